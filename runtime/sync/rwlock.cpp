// SPDX-License-Identifier: Apache-2.0
#include "runtime/sync/rwlock.h"

#include <cerrno>

#include "runtime/base/vector.h"
#include "runtime/sync/outside.h"

namespace heddle::runtime {
namespace {

// Of glibc's fields: __readers holds the number of readers, __cur_writer the writer's index + 1,
// __pad3 where the writer took it, __writers how many wait to write if they go first (__flags).
using Data = decltype(pthread_rwlock_t::__data);

struct Reader {
  std::uint64_t lock;
  abi::SiteId site;
  abi::ThreadIndex thread;
};

/// One entry for each time a lock is held for reading.
constinit Vector<Reader> readers;

Data& data_of(std::uint64_t address) {
  return reinterpret_cast<pthread_rwlock_t*>(address)->__data;
}

bool writers_go_first(const Data& data) {
  return data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

bool write_locked_by(const Data& data, abi::ThreadIndex thread) {
  return data.__cur_writer == thread + 1;
}

bool can_read(const Data& data) {
  return data.__cur_writer == 0 && !(writers_go_first(data) && data.__writers > 0);
}

bool can_write(const Data& data) {
  return data.__cur_writer == 0 && data.__readers == 0;
}

// A thread that has the lock for writing and wants it again is told so at once.
bool read_ready(const Operation& operation) {
  const Data& data = data_of(operation.address);
  return can_read(data) || write_locked_by(data, operation.thread);
}

bool write_ready(const Operation& operation) {
  const Data& data = data_of(operation.address);
  return can_write(data) || write_locked_by(data, operation.thread);
}

abi::ThreadIndex writer_holder(const Data& data, abi::SiteId& taken_at) {
  if (data.__cur_writer == 0) return abi::kNoThread;
  taken_at = data.__pad3;
  return static_cast<abi::ThreadIndex>(data.__cur_writer - 1);
}

/// A reader waits for the writer, or for a writer that waits and goes first.
abi::ThreadIndex read_holder(const Operation& operation, abi::SiteId& taken_at) {
  const Data& data = data_of(operation.address);
  if (data.__cur_writer != 0) return writer_holder(data, taken_at);
  for (std::uint32_t i = 0; i < session().thread_count(); ++i) {
    const Thread& thread = session().thread(static_cast<abi::ThreadIndex>(i));
    if (thread.finished || thread.index == operation.thread) continue;
    if (thread.pending.kind == abi::EventKind::RwlockWrite &&
        thread.pending.address == operation.address) {
      taken_at = thread.pending.site;
      return thread.index;
    }
  }
  return abi::kNoThread;
}

/// A writer waits for all readers. Named is the one that shows a cycle: another reader that wants
/// to write too, else the writer itself where it has the lock for reading, else any.
abi::ThreadIndex write_holder(const Operation& operation, abi::SiteId& taken_at) {
  const Data& data = data_of(operation.address);
  if (data.__cur_writer != 0) return writer_holder(data, taken_at);
  const Reader* found = nullptr;
  for (const Reader& reader : readers) {
    if (reader.lock != operation.address) continue;
    const Operation& pending = session().thread(reader.thread).pending;
    const bool upgrades = reader.thread != operation.thread &&
                          pending.kind == abi::EventKind::RwlockWrite &&
                          pending.address == operation.address;
    if (found == nullptr || upgrades || reader.thread == operation.thread) found = &reader;
    if (upgrades) break;
  }
  if (found == nullptr) return abi::kNoThread;
  taken_at = found->site;
  return found->thread;
}

Reach reach(const Operation& operation) {
  const auto* const lock = reinterpret_cast<const pthread_rwlock_t*>(operation.address);
  return lock->__data.__shared != 0 ? Reach::Unseen : Reach::Process;
}

constexpr Blocking kReading{&read_ready, &read_holder, &reach};
constexpr Blocking kWriting{&write_ready, &write_holder, &reach};

/// The attempt itself, at the thread's turn.
int attempt(Session& session, std::uint64_t address, RwlockMode mode, int if_held, int if_own,
            abi::SiteId site) {
  Data& data = data_of(address);
  const abi::ThreadIndex thread = session.current_index();
  outside_note_use(data.__shared != 0);
  if (write_locked_by(data, thread)) return if_own;
  if (mode == RwlockMode::Read) {
    if (!can_read(data)) return if_held;
    ++data.__readers;
    readers.push_back({address, site, thread});
  } else {
    if (!can_write(data)) return if_held;
    data.__cur_writer = thread + 1;
    data.__pad3 = site;
  }
  return 0;
}

/// The current thread's own hold if it has one, else (the program unlocks for another) any.
void remove_reader(std::uint64_t address, abi::ThreadIndex thread) {
  std::size_t found = readers.size();
  for (std::size_t i = 0; i < readers.size(); ++i) {
    if (readers[i].lock != address) continue;
    found = i;
    if (readers[i].thread == thread) break;
  }
  if (found < readers.size()) readers.erase(found);
}

}  // namespace

int rwlock_lock(Session& session, pthread_rwlock_t* lock, RwlockMode mode, const timespec* deadline,
                abi::SiteId site) {
  const bool reads = mode == RwlockMode::Read;
  const bool queues = !reads && writers_go_first(lock->__data);
  const Blocking& waiting = reads ? kReading : kWriting;
  Operation operation =
      operation_on(lock, reads ? abi::EventKind::RwlockRead : abi::EventKind::RwlockWrite, site,
                   deadline != nullptr ? nullptr : &waiting);
  if (deadline != nullptr) limit(operation, waiting, VirtualClock::nanoseconds(*deadline));
  if (queues) {
    ++lock->__data.__writers;
    session.refresh(operation.address);
  }
  session.arrive(operation);
  if (queues) --lock->__data.__writers;
  const int result = attempt(session, operation.address, mode, ETIMEDOUT, EDEADLK, site);
  if (result == ETIMEDOUT) session.clock().advance_to(VirtualClock::nanoseconds(*deadline));
  session.record(operation, 0, static_cast<std::uint64_t>(result));
  session.refresh(operation.address);
  return result;
}

int rwlock_trylock(Session& session, pthread_rwlock_t* lock, RwlockMode mode, abi::SiteId site) {
  const Operation operation = operation_on(
      lock,
      mode == RwlockMode::Read ? abi::EventKind::RwlockTryRead : abi::EventKind::RwlockTryWrite,
      site);
  session.arrive(operation);
  const int result = attempt(session, operation.address, mode, EBUSY, EBUSY, site);
  session.record(operation, 0, static_cast<std::uint64_t>(result));
  session.refresh(operation.address);
  return result;
}

int rwlock_unlock(Session& session, pthread_rwlock_t* lock, abi::SiteId site) {
  const Operation operation = operation_on(lock, abi::EventKind::RwlockUnlock, site);
  session.arrive(operation);
  Data& data = lock->__data;
  if (data.__cur_writer != 0) {
    data.__cur_writer = 0;
    data.__pad3 = 0;
  } else if (data.__readers > 0) {
    --data.__readers;
    remove_reader(operation.address, session.current_index());
  }
  session.record(operation);
  session.refresh(operation.address);
  return 0;
}

int rwlock_destroy(Session& session, pthread_rwlock_t* lock, abi::SiteId site) {
  const Operation operation = operation_on(lock, abi::EventKind::RwlockDestroy, site);
  session.arrive(operation);
  for (std::size_t i = readers.size(); i-- > 0;) {
    if (readers[i].lock == operation.address) readers.erase(i);
  }
  session.record(operation);
  return 0;
}

}  // namespace heddle::runtime
