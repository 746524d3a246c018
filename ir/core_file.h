// SPDX-License-Identifier: Apache-2.0
//
// A core file of Linux on x86-64: what the kernel (or gdb's gcore) wrote down of a process. Nothing
// in it is believed unchecked; any damage is a user error that names the file.
#pragma once

#include <filesystem>
#include <string_view>

#include "ir/machine_state.h"

namespace heddle::ir {

class CoreFile final : public MachineState {
 public:
  /// Throws heddle::Error if it is no core, of another machine, damaged or cut off.
  explicit CoreFile(const std::filesystem::path& path);
  ~CoreFile() override;
  CoreFile(const CoreFile&) = delete;
  CoreFile& operator=(const CoreFile&) = delete;
  /// The same for bytes that stay where they are; `name` is what messages call them.
  CoreFile(std::string_view bytes, std::string name);

  const std::vector<Mapping>& mappings() const override { return mappings_; }
  const std::vector<Thread>& threads() const override { return threads_; }
  std::size_t read(std::uint64_t address, std::span<char> to) const override;

  /// What ended the process; 0 if nothing did. The thread it happened to comes first.
  int signal() const { return signal_; }
  /// Where the program itself was loaded, and from which file; null if the core does not tell.
  const Mapping* program() const;

 private:
  struct Segment {
    std::uint64_t address;
    std::string_view bytes;
  };

  void parse();
  void parse_notes(std::string_view notes);
  void add_thread(std::string_view status);
  void add_files(std::string_view list);
  void add_vector(std::string_view entries);
  /// `length` bytes of the file from `offset` on.
  std::string_view slice(std::uint64_t offset, std::uint64_t length, const char* what) const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::string name_;
  std::string_view bytes_;
  void* mapped_ = nullptr;
  std::vector<Segment> segments_;  // sorted
  std::vector<Mapping> mappings_;
  std::vector<Thread> threads_;
  std::uint64_t program_headers_ = 0;  // their address; 0: not told
  int signal_ = 0;
};

}  // namespace heddle::ir
