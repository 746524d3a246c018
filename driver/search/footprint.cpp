// SPDX-License-Identifier: Apache-2.0
#include "driver/search/footprint.h"

#include "abi/names.h"

namespace heddle::driver {
namespace {

constexpr std::uint64_t kThreads = 0x7468726561647321;  // the object whose n-th unit is thread n

std::uint64_t key_of(const abi::ObjectRecord& object, std::span<const abi::ThreadRecord> threads) {
  const auto thread = [&] {
    return object.thread < threads.size() ? threads[object.thread].hash : 0;
  };
  const auto kind = static_cast<std::uint64_t>(object.kind);
  switch (object.kind) {
    case abi::ObjectKind::Static: return abi::path_hash(object.base, kind);
    case abi::ObjectKind::Heap:
      return abi::path_hash(abi::path_hash(thread(), object.site), object.count);
    case abi::ObjectKind::Stack: return abi::path_hash(thread(), kind);
    case abi::ObjectKind::Unknown: break;
  }
  return abi::path_hash(0, kind);
}

}  // namespace

Footprints::Footprints(const Channel& channel) : threads_(channel.threads()) {
  objects_.reserve(channel.objects().size());
  for (const abi::ObjectRecord& object : channel.objects()) {
    objects_.push_back(key_of(object, threads_) | 1);
  }
}

Footprint Footprints::of(const abi::EventRecord& event) const {
  Footprint result;
  if (event.object != 0 && event.object <= objects_.size()) {
    result.object = objects_[event.object - 1];
    result.begin = event.offset;
    result.end = event.offset + std::max<std::uint64_t>(event.size, 1);
  }
  switch (abi::access_of(event.kind)) {
    case abi::Access::None:
      // Yielding changes nothing, sleeping the time.
      if (event.kind != abi::EventKind::Yield) result.all_sync = Touch::Write;
      return result;
    case abi::Access::Read: result.memory = Touch::Read; break;
    case abi::Access::Write:
    case abi::Access::Update:
    case abi::Access::Sync: result.memory = Touch::Write; break;
  }
  switch (event.kind) {
    case abi::EventKind::HeapFree:
      result.begin = 0;
      result.end = ~std::uint64_t{0};
      break;
    case abi::EventKind::MutexLock:
    case abi::EventKind::MutexTrylock:
    case abi::EventKind::MutexUnlock: result.all_sync = Touch::Read; break;
    case abi::EventKind::ThreadStart:
    case abi::EventKind::ThreadCreate: result = {}; break;  // ordered by being child and parent
    case abi::EventKind::ThreadExit:
    case abi::EventKind::ThreadJoin: {
      const std::uint64_t thread =
          event.kind == abi::EventKind::ThreadExit ? event.thread : event.value;
      result.object = kThreads;
      result.begin = thread_hash(static_cast<abi::ThreadIndex>(thread)) & ~std::uint64_t{7};
      result.end = result.begin + 8;
      break;
    }
    default:
      if (abi::access_of(event.kind) == abi::Access::Sync) result.all_sync = Touch::Write;
  }
  return result;
}

}  // namespace heddle::driver
