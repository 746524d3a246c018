// SPDX-License-Identifier: Apache-2.0
#include "driver/channel.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace heddle::driver {
namespace {

constexpr std::uint64_t kPlanRecords = 1 << 20;
constexpr std::uint64_t kTextBytes = 1 << 20;
/// Room for this many steps for each event there is room for.
constexpr std::uint64_t kStepsPerEvent = 8;
/// About as many instructions.
constexpr std::uint64_t kPathBytes = 16 << 20;
constexpr std::uint64_t kStackBytes = 8 << 20;
constexpr std::uint64_t kLoadedBytes = 256 << 10;
constexpr std::uint64_t kOpenedBytes = 64 << 10;

}  // namespace

Channel::Channel(std::uint64_t max_events, const Outside* outside,
                 std::span<const StandIn> stand_ins)
    : memory_(memfd_create("heddle-channel", MFD_CLOEXEC)), max_events_(max_events) {
  std::uint64_t bytes = sizeof(abi::ChannelHeader);
  const auto region = [&bytes](std::uint64_t record_bytes, std::uint64_t capacity) {
    bytes = (bytes + 63) & ~std::uint64_t{63};
    const abi::Region result{bytes, capacity, 0};
    bytes += record_bytes * capacity;
    return result;
  };
  abi::ChannelHeader header{};
  header.magic = abi::kChannelMagic;
  header.version = abi::kVersion;
  header.plan = region(sizeof(abi::PlanRecord), kPlanRecords);
  header.events = region(sizeof(abi::EventRecord), max_events);
  // A decision before each event, one of data within it, and one after each thread's end.
  header.decisions = region(sizeof(abi::DecisionRecord), 2 * max_events + abi::kMaxThreads);
  header.threads = region(sizeof(abi::ThreadRecord), abi::kMaxThreads);
  header.objects = region(sizeof(abi::ObjectRecord), max_events + abi::kMaxThreads);
  header.text = region(1, kTextBytes);
  const ToldRegions told = outside != nullptr ? told_regions(*outside) : ToldRegions{};
  header.is_told = outside != nullptr ? 1 : 0;
  header.told_process = outside != nullptr ? outside->process : 0;
  header.answer_streams = region(sizeof(abi::AnswerStream), told.streams.size());
  header.answers = region(1, told.answers.size());
  header.file_copies = region(sizeof(abi::FileCopy), told.copies.size());
  header.file_names = region(1, told.names.size());
  header.steps = region(sizeof(abi::StepRecord), kStepsPerEvent * max_events);
  header.path = region(1, kPathBytes);
  header.stacks = region(sizeof(abi::StackRecord), abi::kMaxThreads);
  header.stack_bytes = region(1, kStackBytes);
  header.loaded = region(1, kLoadedBytes);
  std::string pairs;
  for (const StandIn& pair : stand_ins) pairs += pair.library + '\0' + pair.instead + '\0';
  header.stand_ins = region(1, pairs.size());
  header.opened = region(1, kOpenedBytes);
  header.bytes = bytes;

  if (!memory_.valid() || ftruncate(memory_.get(), static_cast<off_t>(bytes)) != 0) {
    throw environment_error(
        fmt::format("cannot create {} bytes of shared memory: {}", bytes, std::strerror(errno)));
  }
  void* const mapping =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory_.get(), 0);
  if (mapping == MAP_FAILED) {
    throw environment_error(
        fmt::format("cannot map {} bytes of shared memory: {}; a smaller "
                    "--max-events needs less",
                    bytes, std::strerror(errno)));
  }
  header_ = static_cast<abi::ChannelHeader*>(mapping);
  *header_ = header;
  tell(told);
  std::ranges::copy(pairs, reinterpret_cast<char*>(header_) + header.stand_ins.offset);
  header_->stand_ins.count = stand_ins.size();
}

void Channel::tell(const ToldRegions& told) {
  const auto fill = [this](abi::Region& region, const void* records, std::size_t count,
                           std::size_t bytes) {
    if (bytes > 0) std::memcpy(reinterpret_cast<char*>(header_) + region.offset, records, bytes);
    region.count = count;
  };
  fill(header_->answer_streams, told.streams.data(), told.streams.size(),
       told.streams.size() * sizeof(abi::AnswerStream));
  fill(header_->answers, told.answers.data(), told.answers.size(), told.answers.size());
  fill(header_->file_copies, told.copies.data(), told.copies.size(),
       told.copies.size() * sizeof(abi::FileCopy));
  fill(header_->file_names, told.names.data(), told.names.size(), told.names.size());
}

Channel::~Channel() {
  if (header_ != nullptr) munmap(header_, header_->bytes);
}

void Channel::set_plan(std::span<const abi::PlanRecord> plan) {
  if (plan.size() > header_->plan.capacity) {
    throw user_error(fmt::format("a schedule of {} decisions is longer than Heddle can follow ({})",
                                 plan.size(), header_->plan.capacity));
  }
  auto* const to = reinterpret_cast<char*>(header_) + header_->plan.offset;
  if (!plan.empty()) std::memcpy(to, plan.data(), plan.size_bytes());
  header_->plan.count = plan.size();
}

void Channel::bound_events(std::uint64_t most) {
  header_->events.capacity = std::min(most, max_events_);
}

void Channel::record_path_from(std::uint64_t events) {
  header_->path_from = events;
}

// The target writes these counts: whatever it may have done to them, no view leaves the region.
template <typename Record>
std::span<const Record> Channel::view(const abi::Region& region) const {
  const std::uint64_t count = __atomic_load_n(&region.count, __ATOMIC_ACQUIRE);
  const auto* const first = reinterpret_cast<const char*>(header_) + region.offset;
  return {reinterpret_cast<const Record*>(first), std::min(count, region.capacity)};
}

std::span<const abi::PlanRecord> Channel::plan() const {
  return view<abi::PlanRecord>(header_->plan);
}
std::span<const abi::EventRecord> Channel::events() const {
  return view<abi::EventRecord>(header_->events);
}
std::span<const abi::DecisionRecord> Channel::decisions() const {
  return view<abi::DecisionRecord>(header_->decisions);
}
std::span<const abi::ThreadRecord> Channel::threads() const {
  return view<abi::ThreadRecord>(header_->threads);
}
std::span<const abi::ObjectRecord> Channel::objects() const {
  return view<abi::ObjectRecord>(header_->objects);
}

std::span<const abi::StepRecord> Channel::steps() const {
  return view<abi::StepRecord>(header_->steps);
}

std::string_view Channel::path() const {
  const std::span<const char> bytes = view<char>(header_->path);
  return {bytes.data(), bytes.size()};
}

std::span<const abi::StackRecord> Channel::stacks() const {
  return view<abi::StackRecord>(header_->stacks);
}
std::span<const char> Channel::stack_bytes() const {
  return view<char>(header_->stack_bytes);
}
std::string_view Channel::loaded() const {
  const std::span<const char> text = view<char>(header_->loaded);
  return {text.data(), text.size()};
}

std::vector<std::string> Channel::opened() const {
  const std::span<const char> text = view<char>(header_->opened);
  std::vector<std::string> paths;
  for (auto at = text.begin(); at != text.end();) {
    const auto end = std::find(at, text.end(), '\0');
    paths.emplace_back(at, end);
    at = end == text.end() ? end : end + 1;
  }
  return paths;
}

std::string_view Channel::text_at(std::uint32_t offset) const {
  const std::span<const char> text = view<char>(header_->text);
  if (offset >= text.size()) return {};
  const std::string_view rest(text.data() + offset, text.size() - offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace heddle::driver
