// SPDX-License-Identifier: Apache-2.0
//
// The table of runs in SQLite. Knows nothing of the runs' files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/run.h"

struct sqlite3;
struct sqlite3_stmt;

namespace heddle::store {

/// Stored in the database; FORMAT of another version is another number.
inline constexpr int kSchemaVersion = 1;

class Catalogue {
 public:
  /// Makes the table if there is none.
  static std::unique_ptr<Catalogue> create(const std::filesystem::path& file);
  static std::unique_ptr<Catalogue> open(const std::filesystem::path& file);
  ~Catalogue();
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  /// False on media that cannot be written.
  bool writable() const { return writable_; }

  std::vector<RunSummary> all() const;
  std::optional<RunSummary> get(std::uint64_t number) const;
  std::optional<RunSummary> newest() const;
  /// The highest number ever given to a run, also if that run is gone.
  std::uint64_t last_number() const;

  void insert(std::uint64_t number, const RunSummary& run);
  bool erase(std::uint64_t number);

  /// Holds the write lock from construction; undone unless committed.
  class Transaction {
   public:
    explicit Transaction(Catalogue& catalogue);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

   private:
    Catalogue* catalogue_;
  };

 private:
  class Statement;

  explicit Catalogue(std::filesystem::path file) : file_(std::move(file)) {}
  void connect(bool immutable);
  int schema_version() const;
  void make_schema();
  void execute(const char* sql) const;
  [[noreturn]] void fail(int result) const;
  std::vector<RunSummary> select(const char* condition, std::optional<std::uint64_t> number) const;

  std::filesystem::path file_;
  sqlite3* database_ = nullptr;
  bool writable_ = true;
};

}  // namespace heddle::store
