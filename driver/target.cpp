// SPDX-License-Identifier: Apache-2.0
#include "driver/target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "abi/environment.h"
#include "abi/recording.h"
#include "base/error.h"
#include "driver/build/toolchain.h"
#include "driver/placement.h"

namespace heddle::driver {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kStartLimit{30'000};
constexpr milliseconds kAliveCheck{100};
constexpr milliseconds kLookLimit{500};
/// Of those that the runtime may use.
constexpr int kHighestDescriptor = abi::kCheckpointDescriptor + 512;

/// A file in memory that the program writes to; emptied before each execution. Appending, so that
/// emptying it also resets where the next write goes.
Descriptor make_output(const char* name) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  if (!file.valid() || fcntl(file.get(), F_SETFL, O_APPEND) != 0) {
    throw environment_error(fmt::format("cannot create a file in memory: {}", strerror(errno)));
  }
  return file;
}

Descriptor make_input(const std::string& bytes) {
  Descriptor file = make_output("heddle-input");
  if (write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    throw environment_error(fmt::format("cannot store the standard input: {}", strerror(errno)));
  }
  return file;
}

/// Most executions write nothing, and looking is cheaper than emptying.
bool make_empty(const Descriptor& file) {
  const off_t size = lseek(file.get(), 0, SEEK_END);
  return size == 0 || (size > 0 && ftruncate(file.get(), 0) == 0);
}

/// The image of a run that begins at a checkpoint; none for any other.
Descriptor open_checkpoint(const std::filesystem::path& path) {
  if (path.empty()) return Descriptor(-1);
  const std::string bytes = read_image(path);
  Descriptor file(memfd_create("heddle-checkpoint", MFD_CLOEXEC));
  const char* at = bytes.data();
  for (std::size_t left = bytes.size(); left > 0;) {
    const ssize_t written = write(file.get(), at, left);
    if (written <= 0) {
      throw environment_error(fmt::format("no memory for the checkpoint: {}", strerror(errno)));
    }
    at += written;
    left -= static_cast<std::size_t>(written);
  }
  return file;
}

Descriptor open_placement(const Image& image) {
  if (!image.restorer) return Descriptor(-1);
  Descriptor file(open(image.restorer->placement.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    throw environment_error(
        fmt::format("cannot read {}: {}", image.restorer->placement.string(), strerror(errno)));
  }
  return file;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// When the loader finds functions: at once, or at the first call of each. That call would save
/// registers on the program's stack that hold whatever was there, and be slower in each execution.
enum class Binding { Eager, Lazy };

/// The loader splits its list there, whatever is in between.
void refuse_unloadable(const std::string& file, const char* advice) {
  if (file.find_first_of(" :") == std::string::npos) return;
  throw environment_error(
      fmt::format("the dynamic loader cannot be given {}: it takes a list in which spaces and "
                  "colons separate; {}",
                  file, advice));
}

/// What the user preloads comes behind ours.
std::vector<std::string> controlled_environment(const std::vector<std::string>& environment,
                                                const Image& image, Binding binding) {
  constexpr std::string_view kPreload = "LD_PRELOAD=";
  const std::string runtime = build::runtime_library().string();
  refuse_unloadable(runtime, "install Heddle in a directory without them");
  std::string preloaded = std::string(kPreload) + runtime;
  for (const Image::Library& library : image.libraries) {
    if (!library.opened.empty()) continue;
    refuse_unloadable(library.file.string(), "set HEDDLE_CACHE to a directory without them");
    preloaded += ":" + library.file.string();
  }
  std::vector<std::string> result;
  if (binding == Binding::Eager) result.push_back(abi::kBindEagerly);
  for (const std::string& entry : environment) {
    if (entry.starts_with(kPreload)) {
      preloaded += ":" + entry.substr(kPreload.size());
    } else {
      result.push_back(entry);
    }
  }
  result.push_back(std::move(preloaded));
  return result;
}

std::vector<StandIn> stand_ins(const Image& image) {
  std::vector<StandIn> pairs;
  for (const Image::Library& library : image.libraries) {
    if (!library.opened.empty()) pairs.push_back({library.opened, library.file.string()});
  }
  if (!image.original.empty()) pairs.push_back({"/proc/self/exe", image.original.string()});
  return pairs;
}

}  // namespace

/// The program, or the restorer it brings along.
struct StartedAs {
  std::filesystem::path file;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};

namespace {

StartedAs started_as(const Image& image, const Inputs& inputs, Binding binding) {
  // Arguments, environment and the runtime library are in the image of the program's memory.
  if (image.restorer) return {image.restorer->program, {image.restorer->program.string()}, {}};
  return {image.executable, inputs.arguments,
          controlled_environment(inputs.environment, image, binding)};
}

/// Everything the new process does before it becomes the program. After fork() in a process that
/// may have other threads: system calls only.
[[noreturn]] void become(const char* executable, const char* directory, char** arguments,
                         char** environment, const int (&streams)[3], int channel,
                         const RecordingDescriptors& recording, int report) {
  int error = 0;
  OneCpu::leave();
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur <= static_cast<rlim_t>(kHighestDescriptor)) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The same addresses in every run. Where that is forbidden the run still works.
  personality(static_cast<unsigned long>(personality(0xffffffff)) | ADDR_NO_RANDOMIZE);
  if (chdir(directory) != 0) error = errno;
  for (int i = 0; i < 3 && error == 0; ++i) {
    if (dup2(streams[i], i) < 0) error = errno;
  }
  if (error == 0 && dup2(channel, abi::kChannelDescriptor) < 0) error = errno;
  const auto give = [&error](int descriptor, int number) {
    if (error == 0 && descriptor >= 0 && dup2(descriptor, number) < 0) error = errno;
  };
  give(recording.log, abi::kRecordingDescriptor);
  for (unsigned i = 0; i < abi::kSegments; ++i) {
    give(recording.checkpoints[i], abi::kCheckpointDescriptor + static_cast<int>(i));
  }
  if (error == 0) {
    execve(executable, arguments, environment);
    error = errno;
  }
  [[maybe_unused]] const ssize_t told = write(report, &error, sizeof error);
  _exit(127);
}

}  // namespace

Target::Target(const Image& image, const Inputs& inputs, std::uint64_t max_events,
               std::chrono::milliseconds timeout, const RecordingDescriptors& recording,
               abi::Beginning beginning)
    : channel_(max_events, inputs.outside ? &*inputs.outside : nullptr, stand_ins(image)),
      input_(make_input(inputs.standard_input)),
      output_(make_output("heddle-output")),
      error_(make_output("heddle-error")),
      checkpoint_(open_checkpoint(inputs.checkpoint)),
      placement_(open_placement(image)),
      timeout_(timeout),
      name_(inputs.arguments.at(0)) {
  RecordingDescriptors given = recording;
  channel_.header().beginning = beginning;
  if (checkpoint_.valid()) {
    given.checkpoints[0] = checkpoint_.get();
    given.checkpoints[1] = placement_.get();
    channel_.header().beginning = abi::Beginning::Checkpoint;
  }
  try {
    start(started_as(image, inputs, Binding::Eager), inputs.directory, given);
  } catch (const Error& error) {
    // A library may lack functions that nobody calls.
    const bool lacks =
        std::string_view(error.what()).find("symbol lookup error") != std::string::npos;
    if (!lacks || process_ > 0 || !make_empty(error_)) throw;
    start(started_as(image, inputs, Binding::Lazy), inputs.directory, given);
  }
}

void Target::start(StartedAs as, const std::filesystem::path& directory,
                   const RecordingDescriptors& recording) {
  const std::vector<char*> argument_pointers = pointers(as.arguments);
  const std::vector<char*> environment_pointers = pointers(as.environment);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw environment_error(fmt::format("cannot create a pipe: {}", strerror(errno)));
  }
  const Descriptor report(ends[0]);
  Descriptor report_end(ends[1]);
  const int streams[3] = {input_.get(), output_.get(), error_.get()};
  process_ = fork();
  if (process_ == 0) {
    become(as.file.c_str(), directory.c_str(), const_cast<char**>(argument_pointers.data()),
           const_cast<char**>(environment_pointers.data()), streams, channel_.descriptor(),
           recording, report_end.get());
  }
  if (process_ < 0) {
    throw environment_error(fmt::format("cannot start a process: {}", strerror(errno)));
  }
  report_end.reset();
  int error = 0;
  if (read(report.get(), &error, sizeof error) == sizeof error) {
    waitpid(process_, nullptr, 0);
    process_ = -1;
    throw user_error(
        fmt::format("cannot run {} in {}: {}", name_, directory.string(), strerror(error)));
  }
  if (!wait_for(abi::ChannelState::Ready, kStartLimit)) {
    throw environment_error(
        fmt::format("{} did not come up within {} s", name_, kStartLimit.count() / 1000));
  }
}

Target::~Target() {
  if (process_ <= 0) return;
  kill(process_, SIGKILL);  // its executions die with it
  waitpid(process_, nullptr, 0);
}

void Target::set_state(abi::ChannelState state) {
  std::uint32_t* const word = &channel_.header().state;
  __atomic_store_n(word, static_cast<std::uint32_t>(state), __ATOMIC_RELEASE);
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool Target::wait_for(abi::ChannelState wanted, std::chrono::milliseconds timeout) {
  const std::uint32_t* const word = &channel_.header().state;
  // A long execution is not one that hangs: whatever adds events gets more time, up to
  // --max-events.
  const auto progress = [&header = channel_.header()] {
    return __atomic_load_n(&header.events.count, __ATOMIC_RELAXED) +
           __atomic_load_n(&header.progress, __ATOMIC_RELAXED);
  };
  std::uint64_t seen = progress();
  steady_clock::time_point deadline = steady_clock::now() + timeout;
  // Sleeps at once: spinning first was slower wherever other work wanted the CPU, by wall time too.
  for (;;) {
    const std::uint32_t state = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (state == static_cast<std::uint32_t>(wanted)) return true;
    const steady_clock::time_point now = steady_clock::now();
    if (const std::uint64_t done = progress(); done != seen) {
      seen = done;
      deadline = now + timeout;
    }
    if (now >= deadline) return false;
    const timespec wait{0, kAliveCheck.count() * 1'000'000};
    if (syscall(SYS_futex, word, FUTEX_WAIT, state, &wait, nullptr, 0) != 0 && errno == ETIMEDOUT) {
      int status = 0;
      if (waitpid(process_, &status, WNOHANG) != process_) continue;
      process_ = -1;
      const std::string said = standard_error();
      throw environment_error(fmt::format(
          "{} ended before it could be controlled{}{}{}", name_, said.empty() ? "" : "; it said:\n",
          said,
          placement_.valid() ? ""  // what brings a checkpoint back has to be linked so
                             : "\nHeddle controls dynamically linked programs; a statically linked "
                               "one must be linked again without -static."));
    }
  }
}

void Target::begin_behind(std::uint64_t events) {
  channel_.header().stem = {events == 0 ? 0 : ++stems_, events, 0};
}

Execution Target::run(const abi::Options& options, std::span<const abi::PlanRecord> plan,
                      std::uint64_t most_events) {
  abi::ChannelHeader& header = channel_.header();
  header.options = options;
  channel_.set_plan(plan);
  channel_.bound_events(most_events);
  if (!make_empty(output_) || !make_empty(error_) || lseek(input_.get(), 0, SEEK_SET) != 0) {
    throw environment_error(fmt::format("cannot reset the program's files: {}", strerror(errno)));
  }
  if (one_cpu_) one_cpu_->begin(process_, header.child);
  set_state(abi::ChannelState::RunRequested);
  Execution execution;
  if (!wait_for(abi::ChannelState::Finished, timeout_)) {
    execution.timed_out = true;
    ask_for_stacks();
    kill(header.child, SIGKILL);
    if (!wait_for(abi::ChannelState::Finished, kStartLimit)) {
      throw defect(fmt::format("an execution of {} could not be ended", name_));
    }
  }
  if (one_cpu_) one_cpu_->end();
  execution.status = header.status;
  return execution;
}

void Target::ask_for_stacks() {
  std::uint32_t* const look = &channel_.header().look;
  __atomic_store_n(look, static_cast<std::uint32_t>(abi::Look::Wanted), __ATOMIC_RELEASE);
  // One of the signals that the runtime takes for fatal. A program that blocks or handles it does
  // not answer.
  kill(channel_.header().child, SIGTRAP);
  const steady_clock::time_point deadline = steady_clock::now() + kLookLimit;
  while (__atomic_load_n(look, __ATOMIC_ACQUIRE) != static_cast<std::uint32_t>(abi::Look::Done) &&
         steady_clock::now() < deadline) {
    usleep(1000);
  }
}

abi::ResetObstacle Target::reset_obstacle() const {
  const abi::ResetState& reset = channel_.header().reset;
  return reset.gave_up != 0 ? reset.obstacle : abi::ResetObstacle::None;
}

std::string Target::standard_output() const {
  return contents(output_);
}
std::string Target::standard_error() const {
  return contents(error_);
}

void become_debugged(const DebuggedExecution& execution) {
  const std::optional<Outside>& outside = execution.inputs.outside;
  Channel channel(execution.options.max_events, outside ? &*outside : nullptr,
                  stand_ins(execution.image));
  channel.header().options = execution.options;
  channel.header().debug_stop = execution.stop_before + 1;
  channel.set_plan(execution.plan);
  const Descriptor input = make_input(execution.inputs.standard_input);
  lseek(input.get(), 0, SEEK_SET);
  const auto create = [](const std::filesystem::path& path) {
    Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600));
    if (!file.valid()) {
      throw environment_error(fmt::format("cannot write {}: {}", path.string(), strerror(errno)));
    }
    return file;
  };
  const Descriptor output = create(execution.output);
  const Descriptor error = create(execution.error);
  const int streams[3] = {input.get(), output.get(), error.get()};
  const Descriptor checkpoint = open_checkpoint(execution.inputs.checkpoint);
  if (checkpoint.valid()) channel.header().beginning = abi::Beginning::Checkpoint;
  StartedAs as = started_as(execution.image, execution.inputs, Binding::Eager);
  become(as.file.c_str(), execution.inputs.directory.c_str(), pointers(as.arguments).data(),
         pointers(as.environment).data(), streams, channel.descriptor(),
         {-1, {checkpoint.get(), -1}}, STDERR_FILENO);
}

}  // namespace heddle::driver
