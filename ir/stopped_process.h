// SPDX-License-Identifier: Apache-2.0
//
// A process that is running, stopped as long as this object lives and going on unharmed afterwards.
#pragma once

#include <sys/types.h>

#include "ir/machine_state.h"

namespace heddle::ir {

class StoppedProcess final : public MachineState {
 public:
  /// Throws heddle::Error if there is no such process, or if it may not be stopped.
  explicit StoppedProcess(pid_t process);
  ~StoppedProcess() override;
  StoppedProcess(const StoppedProcess&) = delete;
  StoppedProcess& operator=(const StoppedProcess&) = delete;

  const std::vector<Mapping>& mappings() const override { return mappings_; }
  const std::vector<Thread>& threads() const override { return threads_; }
  std::size_t read(std::uint64_t address, std::span<char> to) const override;

  /// The file it executes; works when that has been moved or removed, too.
  std::string executable() const;

 private:
  /// False if it was stopped already or has ended.
  bool stop(pid_t thread);

  pid_t process_;
  int memory_ = -1;
  std::vector<Mapping> mappings_;
  std::vector<Thread> threads_;
};

/// What /proc/PID/maps says; lines that name no file are left out.
std::vector<MachineState::Mapping> parse_maps(std::string_view text);

}  // namespace heddle::ir
