// SPDX-License-Identifier: Apache-2.0
//
// A program under control: started once, then executed as often as wanted, each time from a process
// that stands before the program's first instruction: forked from it, or brought back to it
// (runtime/session/fork_server.h, runtime/reset/keeper.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "abi/recording.h"
#include "driver/channel.h"
#include "driver/descriptor.h"
#include "driver/one_cpu.h"
#include "driver/outside.h"

namespace heddle::driver {

/// What the program is started with. Replaying a run needs the same again, byte for byte: the
/// kernel puts these strings on the stack, where the program can see how long they are.
struct Inputs {
  std::vector<std::string> arguments;    // arguments[0] is the program as the user wrote it
  std::vector<std::string> environment;  // "NAME=value"
  std::filesystem::path directory;
  std::string standard_input;
  /// Of a run that was recorded in parallel: what comes from outside.
  std::optional<Outside> outside = std::nullopt;
  /// Of one that begins at a checkpoint, or was packed: the image, as it is or as a packed log.
  std::filesystem::path checkpoint = {};
  bool operator==(const Inputs&) const = default;
};

/// What becomes the program of an image where nothing of it is installed
/// (runtime/restorer), and what that needs besides the image.
struct Restorer {
  std::filesystem::path program;
  std::filesystem::path placement;
  std::filesystem::path runtime;  // the library that was in the recorded process
  /// Where the files are that its loader knew by these names.
  std::map<std::string, std::filesystem::path> files;
};

/// What is executed: files that stand in for the program and for some of the libraries it names.
struct Image {
  struct Library {
    std::string name;  // that of the library it stands in for
    std::filesystem::path file;
    std::string opened = "";  // the path of one that the program opens by itself
  };
  std::filesystem::path executable;
  std::vector<Library> libraries;
  std::optional<Restorer> restorer = std::nullopt;
  std::filesystem::path original = {};  // what the user started; empty: the executable itself
};

struct Execution {
  int status = 0;  // as wait(2) gives it
  bool timed_out = false;
};

/// What a parallel run writes to (RecordingFile).
struct RecordingDescriptors {
  int log = -1;
  int checkpoints[abi::kSegments] = {-1, -1};
};

/// What the kernel is asked to execute for an image: defined where that is done.
struct StartedAs;

class Target {
 public:
  /// Starts the image with the runtime library loaded. Throws when it does not come up.
  Target(const Image& image, const Inputs& inputs, std::uint64_t max_events,
         std::chrono::milliseconds timeout, const RecordingDescriptors& recording = {},
         abi::Beginning beginning = abi::Beginning::Program);
  ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /// From now on the thread that calls this, which must be the one that calls run(), and the
  /// executions stay on one CPU while they are short. Not for executions in parallel, nor for
  /// threads that start others.
  void stay_on_one_cpu() { one_cpu_.emplace(); }

  static constexpr std::uint64_t kAllEvents = ~std::uint64_t{0};
  /// One execution. What it recorded is in channel() until the next call. Stopped after
  /// `most_events`, as after options.max_events, but without turns before that.
  Execution run(const abi::Options& options, std::span<const abi::PlanRecord> plan,
                std::uint64_t most_events = kAllEvents);

  /// From the next execution on, all have their first `events` in common: those after it begin
  /// behind them, if the program can be brought back there. 0: all begin at the beginning.
  void begin_behind(std::uint64_t events);

  /// The next executions' way through the program is written down, behind so many events, if its
  /// variant tells it (abi/path_record.h).
  void record_path_from(std::uint64_t events) { channel_.record_path_from(events); }

  const Channel& channel() const { return channel_; }
  /// The process that stands before the program's first instruction.
  pid_t process() const { return process_; }
  std::string standard_output() const;
  std::string standard_error() const;
  /// Why each execution needs a process of its own; None while they share one, or may.
  abi::ResetObstacle reset_obstacle() const;

 private:
  void start(StartedAs as, const std::filesystem::path& directory,
             const RecordingDescriptors& recording);
  /// False when the time is over first. Throws when the serving process has died.
  bool wait_for(abi::ChannelState state, std::chrono::milliseconds timeout);
  void set_state(abi::ChannelState state);
  /// Of an execution that hangs.
  void ask_for_stacks();

  Channel channel_;
  Descriptor input_;
  Descriptor output_;
  Descriptor error_;
  Descriptor checkpoint_;
  Descriptor placement_;
  std::chrono::milliseconds timeout_;
  pid_t process_ = -1;
  std::uint64_t stems_ = 0;  // so far
  std::string name_;
  std::optional<OneCpu> one_cpu_;
};

/// One execution for a debugger: makes the calling process the program, which stops before event
/// `stop_before`. What it writes goes to the files.
struct DebuggedExecution {
  Image image;
  Inputs inputs;
  abi::Options options;
  std::vector<abi::PlanRecord> plan;
  std::uint32_t stop_before = 0;
  std::filesystem::path output;
  std::filesystem::path error;
};
[[noreturn]] void become_debugged(const DebuggedExecution& execution);

}  // namespace heddle::driver
