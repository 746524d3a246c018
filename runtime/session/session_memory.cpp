// SPDX-License-Identifier: Apache-2.0
//
// The part of Session between the memory model, which knows what is pending, and the strategy,
// which decides when it becomes visible. A thread with pending stores has a flusher: a thread that
// is never carried, whose one kind of operation, a flush, Session performs itself.
#include "abi/names.h"
#include "runtime/memory/raw_memory.h"
#include "runtime/session/session.h"

namespace heddle::runtime {

std::uint64_t Session::load(std::uint64_t address, unsigned bytes) {
  if (!delays_stores_) return read_memory(address, bytes);
  settle(address, bytes);
  return memory_->load(current_, address, bytes);
}

void Session::store(const Operation& operation, unsigned bytes, std::uint64_t value, bool release) {
  if (!delays_stores_) return write_memory(operation.address, bytes, value);
  settle(operation.address, bytes);
  memory_->store(current_, {operation.address, value, operation.site,
                            static_cast<std::uint8_t>(bytes), release});
  if (memory_->pending(current_) == 0) return;
  if (current().flusher == abi::kNoThread) add_flusher();
  enabled_.insert(current().flusher);
}

void Session::settle(std::uint64_t address, std::uint64_t bytes) {
  while (delays_stores_) {
    const abi::ThreadIndex thread = memory_->blocks_access(current_, address, bytes);
    if (thread == abi::kNoThread) return;
    drain(thread);
  }
}

void Session::drain(abi::ThreadIndex thread) {
  while (memory_->pending(thread) != 0) flush_one(thread, 0, thread);
}

void Session::add_flusher() {
  if (threads_.size() == abi::kMaxThreads) {
    unsupported("more than 1024 threads and store buffers in one run");
  }
  const std::uint64_t hash = abi::path_hash(current().hash, abi::kFlusherOrdinal);
  add_thread(current_, abi::kFlusherOrdinal, hash);
  Thread& flusher = threads_.back();
  flusher.flushes_for = current_;
  flusher.finished = flusher.joined = true;  // nobody waits for it, and it never waits
  pend(flusher, {abi::EventKind::Flush, abi::kFlushSite, 0, flusher.index});
  current().flusher = flusher.index;
}

/// The strategy's choice was the flusher that is current now.
void Session::flush_chosen() {
  const abi::ThreadIndex owner = current().flushes_for;
  const std::uint32_t choices = memory_->flush_choices(owner);
  const std::uint32_t choice = choices > 1 ? decide_value(choices) : 0;
  if (choice == Strategy::kCannotFollow) stop(abi::FailureKind::Divergence);
  flush_one(owner, choice, current_);
}

void Session::flush_one(abi::ThreadIndex thread, std::uint32_t choice, abi::ThreadIndex by) {
  // Two threads with stores to each other's stack would wait for each other: one level is enough
  // for the order of everything that is not on a stack.
  const abi::ThreadIndex first = memory_->blocks_flush(thread, choice);
  if (first != abi::kNoThread && !draining_) {
    draining_ = true;
    drain(first);
    draining_ = false;
  }
  const PendingStore store = memory_->flush(thread, choice);
  flushed_.add(threads_[threads_[thread].flusher].hash, store.site);
  record_flush(store, by);
  if (memory_->pending(thread) == 0) enabled_.erase(threads_[thread].flusher);
}

/// An event of the flusher where the strategy chose to flush, of its owner where that had to drain.
void Session::record_flush(const PendingStore& store, abi::ThreadIndex by) {
  const Place place = objects_.place_of(store.address);
  const abi::EventRecord event{abi::EventKind::Flush, by,           store.site,  place.object,
                               store.bytes,           place.offset, store.value, 0};
  if (!recorder_.add_event(event)) {
    failure().site = store.site;
    stop(abi::FailureKind::NoProgress);
  }
  stop_if_freed(place, store.address, store.site);
}

abi::ThreadIndex Session::storer(abi::ThreadIndex thread) const {
  return threads_[thread].is_flusher() ? threads_[thread].flushes_for : thread;
}

std::uint32_t Session::pending_stores(abi::ThreadIndex thread) const {
  return memory_->pending(storer(thread));
}

abi::SiteId Session::pending_store(abi::ThreadIndex thread, std::uint32_t n) const {
  return memory_->pending_store(storer(thread), n).site;
}

std::uint32_t Session::flush_choices(abi::ThreadIndex flusher) const {
  return memory_->flush_choices(storer(flusher));
}

abi::SiteId Session::flush_choice(abi::ThreadIndex flusher, std::uint32_t n) const {
  return memory_->flush_choice(storer(flusher), n).site;
}

bool Session::drains_first(abi::ThreadIndex thread) const {
  return drains(threads_[thread].pending.kind) && memory_->pending(thread) != 0;
}

abi::ThreadIndex Session::flusher_of(abi::ThreadIndex thread) const {
  const abi::ThreadIndex flusher = threads_[thread].flusher;
  return flusher == abi::kNoThread ? thread : flusher;
}

std::uint32_t Session::flushes(std::uint64_t flusher, abi::SiteId site) const {
  return is_sequentially_consistent() ? 0 : flushed_.count(flusher, site);
}

bool Session::is_sequentially_consistent() const {
  return !delays_stores_;
}

void Session::announce_write(const Operation& operation, unsigned bytes) {
  const Place place = objects_.place_of(operation.address);
  stop_if_freed(place, operation.address, operation.site);
  announced_ = {operation.kind, operation.site, place, operation.address, bytes};
}

void Session::record_announced() {
  const Announced write = announced_;
  announced_.bytes = 0;
  at_turn_ = false;
  const std::uint64_t value = read_memory(write.address, write.bytes);
  if (!recorder_.add_event({write.kind, current_, write.site, write.place.object, write.bytes,
                            write.place.offset, value, 0})) {
    failure().site = write.site;
    stop(abi::FailureKind::NoProgress);
  }
  if (audit_.active()) [[unlikely]]
    audit(write.kind, write.site, write.address, write.bytes);
}

/// What every thread may do to memory, as opposed to what only one can (entry/audit_hooks.cpp).
void Session::audit(abi::EventKind kind, abi::SiteId site, std::uint64_t address,
                    std::uint64_t bytes) {
  const abi::Access access = abi::access_of(kind);
  if (address == 0 || (access != abi::Access::Read && access != abi::Access::Write &&
                       access != abi::Access::Update)) {
    return;
  }
  // A call into a library may act on memory that only this thread knows, and says so.
  const bool is_call = kind == abi::EventKind::RangeRead || kind == abi::EventKind::RangeWrite;
  const Audit::Access done{address, bytes, site, current_, access != abi::Access::Read};
  Audit::Contradiction found;
  if (!audit_.watched(done, is_call, found)) contradict(done, found);
}

void Session::contradict(const Audit::Access& access, const Audit::Contradiction& found) {
  abi::FailureRecord& record = failure();
  record.site = access.site;
  record.related_site = found.site;
  record.related_thread = found.thread;
  stop(abi::FailureKind::Misjudged);
}

}  // namespace heddle::runtime
