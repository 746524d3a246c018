// SPDX-License-Identifier: Apache-2.0
//
// The runs a user has: `.heddle/` in the current directory, or $HEDDLE_DIR. A catalogue (SQLite)
// for what lists and searches need, one directory per run for the bulk:
//
//   .heddle/catalogue.db   runs/r1/{schedule,trace,stdout,stderr,inputs,summary,slice}   tmp/
//
// A run is whole or absent: its files are written under tmp/, made durable, renamed to runs/rN, and
// only then entered in the catalogue, all of it while holding the catalogue's write lock from the
// rename on. Whoever is killed between the two leaves a whole directory without a row; `summary`
// holds the row's content, so the next to open the store adopts it. A removed run loses its row
// first; a directory without a row whose number was already given out is what a killed removal left
// and is deleted. Any number of processes may use one store at once.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "store/run.h"

namespace heddle::store {

class Catalogue;

class Store {
 public:
  /// $HEDDLE_DIR, or .heddle in the current directory.
  static std::filesystem::path default_directory();

  /// environment_error when the directory cannot be written.
  static Store open_or_create(const std::filesystem::path& directory = default_directory());
  /// user_error when there is none, saying which command makes one. A store that cannot be written
  /// can still be read.
  static Store open_existing(const std::filesystem::path& directory = default_directory());

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  RunId add(const NewRun& run);
  /// Oldest first.
  std::vector<RunSummary> list() const;
  /// `name`: an id, its number alone, or "latest". Not a prefix of an id: r4 is a prefix of r42,
  /// but whoever types it after r4 was removed does not mean r42.
  RunSummary find(std::string_view name) const;
  /// The files stay until the row is gone, the row until nothing can go wrong any more.
  void remove(const RunId& id);

  /// A missing or damaged file is a user_error that names it.
  trace::Trace load_trace(const RunId& id) const;
  trace::Schedule load_schedule(const RunId& id) const;
  RunInputs load_inputs(const RunId& id) const;
  RunOutput load_output(const RunId& id) const;

  /// Which events of a run are worth showing, as its failure has to do with them, by event:
  /// something that was computed of it, and can be again.
  void keep_slice(const RunId& id, const std::vector<bool>& contains);
  /// Nothing if it was never computed, or cannot be read.
  std::optional<std::vector<bool>> load_slice(const RunId& id) const;

  const std::filesystem::path& directory() const { return directory_; }
  std::filesystem::path run_directory(const RunId& id) const;

 private:
  Store(std::filesystem::path directory, std::unique_ptr<Catalogue> catalogue);
  void settle_orphans();
  void settle_orphan(std::uint64_t number);

  std::filesystem::path directory_;
  std::unique_ptr<Catalogue> catalogue_;
};

}  // namespace heddle::store
