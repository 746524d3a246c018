// SPDX-License-Identifier: Apache-2.0
//
// A program the user named, ready to be controlled: what to execute in its place, and what is known
// of its sites and symbols.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/abi.h"
#include "abi/variant.h"
#include "driver/needed_libraries.h"
#include "driver/target.h"
#include "ir/code_places.h"
#include "ir/site_table.h"
#include "ir/symbol_table.h"
#include "trace/schedule.h"
#include "trace/trace.h"

namespace heddle::driver {

using Progress = std::function<void(std::string_view)>;

/// The variant in which a schedule can be followed.
abi::Variant variant_for(const trace::Schedule& schedule);

/// `name` as typed in a shell: a path, or a word to look up in PATH. Throws if there is no such
/// file.
std::filesystem::path find_program(const std::string& name);

/// A program as it is started.
struct StartedProgram {
  /// Here and now.
  StartedProgram(std::string as_typed)
      : name(std::move(as_typed)), libraries(LibrarySearch::here()) {}
  StartedProgram(std::string as_typed, LibrarySearch search)
      : name(std::move(as_typed)), libraries(std::move(search)) {}

  std::string name;  // as typed in a shell: a path, or a word to look up in PATH
  LibrarySearch libraries;
};

class Program {
 public:
  /// A program that was not built with heddle-cc is controlled at its synchronisation operations
  /// only.
  /// `variant`: which steps to record besides the events (abi/variants.def). The events of a
  /// schedule, and the ids of sites, are the same in all of them.
  static Program open(const StartedProgram& started, const Progress& progress,
                      abi::Variant variant = abi::Variant::Full);

  /// Variants that were derived elsewhere, of the program with that name and build id.
  static Program open_image(const Image& image, const std::string& name,
                            const std::string& build_id);

  const std::string& name() const { return name_; }
  const std::string& build_id() const { return build_id_; }
  const std::filesystem::path& executable() const { return image_.executable; }
  const Image& image() const { return image_; }
  /// What is in its process besides it: Heddle's own library.
  std::filesystem::path runtime() const;
  /// What the user built.
  const std::filesystem::path& original() const { return original_; }
  /// What it needs, in the order it is loaded.
  std::vector<NeededLibrary> needed() const { return needed_libraries(original_, search_); }
  /// Which variant was derived; meaningless for a program that was not instrumented.
  abi::Variant variant() const { return variant_; }
  /// Whether it, or a library of its own, mentions dlopen.
  bool may_open_libraries() const { return may_open_libraries_; }
  /// False for a program whose memory accesses cannot be seen.
  bool instrumented() const { return sees_accesses_; }

  /// Those of the program itself, without its libraries'. Null if not instrumented.
  const ir::SiteTable* sites() const { return sites_ ? &*sites_ : nullptr; }
  /// Also of libraries; nothing for sites that no instruction has.
  std::optional<ir::SiteInfo> site_info(abi::SiteId id) const;

  /// Also answers for sites that no instruction has, and for unknown ones.
  trace::Site site(abi::SiteId id) const;
  std::optional<abi::SiteId> site_by_key(std::string_view key) const;

  /// The variable at `address` (relative to where the module is loaded) in `module` (empty: the
  /// program itself).
  std::optional<ir::SymbolTable::Place> variable(const std::string& module,
                                                 std::uint64_t address) const;

 private:
  /// A library that was built with heddle-cc, too. Its sites' keys begin with its name and a colon.
  struct Library {
    std::string name;
    abi::SiteId first;
    ir::SiteTable sites;
  };

  /// What `path`, the program or a library that it opens by itself, will be loaded with.
  void derive_libraries(const std::filesystem::path& path, const Progress& progress);
  void derive_opened(const Progress& progress);
  bool has_library(const std::string& name) const;
  void add_library(const Image::Library& library);
  abi::SiteId next_site() const;
  const ir::CodePlaces& code() const;

  std::string name_;
  LibrarySearch search_;
  std::string build_id_;
  std::filesystem::path original_;
  Image image_;
  abi::Variant variant_;
  bool sees_accesses_ = false;
  bool may_open_libraries_ = false;
  std::optional<ir::SiteTable> sites_;
  std::vector<Library> libraries_;
  mutable std::shared_ptr<ir::CodePlaces> code_;  // read when first asked for
  mutable std::map<abi::SiteId, trace::Site> code_sites_;
  mutable std::map<std::string, ir::SymbolTable> symbols_;  // by module, read when first asked for
};

}  // namespace heddle::driver
