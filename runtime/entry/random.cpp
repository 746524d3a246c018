// SPDX-License-Identifier: Apache-2.0
//
// Randomness of a controlled run is the same in every run: what a search varies is the schedule,
// not the program's input, and a replay has to see the same numbers. That goes for /dev/random and
// /dev/urandom, too. A recorded run gets real random numbers, and its replay those.
#include "runtime/entry/random.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "runtime/base/text.h"
#include "runtime/entry/entry.h"

using namespace heddle::runtime;

namespace {

/// From the recording, or the kernel's and into the recording; false if there is no recording
/// (left).
bool fill_as_recorded(void* bytes, std::size_t count) {
  Session& run = session();
  if (run.notes_answers()) {
    if (raw_syscall(SYS_getrandom, reinterpret_cast<long>(bytes), static_cast<long>(count), 0) !=
        static_cast<long>(count)) {
      return false;
    }
    const iovec part{bytes, count};
    run.note_answer({heddle::abi::AnswerKind::Random, 0, static_cast<std::uint32_t>(count), 0},
                    &part, 1);
    return true;
  }
  Thread& thread = run.current();
  const heddle::abi::Answer* const told =
      run.told().take(thread.hash, thread.told, heddle::abi::AnswerKind::Random);
  if (told == nullptr || told->bytes != count) return false;
  std::memcpy(bytes, ToldAnswers::bytes_of(*told), count);
  return true;
}

/// SplitMix64.
std::uint64_t next_random() {
  static constinit std::uint64_t state = 0x5EED5EED5EED5EEDull;
  state += 0x9E3779B97F4A7C15ull;
  std::uint64_t x = state;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

void fill(void* bytes, std::size_t count) {
  if (fill_as_recorded(bytes, count)) return;
  auto* const out = static_cast<unsigned char*>(bytes);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % sizeof word == 0) word = next_random();
    out[i] = static_cast<unsigned char>(word >> (i % sizeof word * 8));
  }
}

/// Descriptors that were opened as such a device. One may have become another file since.
constexpr int kDescriptors = 1024;
constinit std::uint64_t opened_devices[kDescriptors / 64] = {};

bool is_random_device(const struct stat& status) {
  const dev_t random = makedev(1, 8);
  const dev_t urandom = makedev(1, 9);
  return S_ISCHR(status.st_mode) && (status.st_rdev == random || status.st_rdev == urandom);
}

bool is_random_device(int descriptor) {
  if (descriptor < 0 || descriptor >= kDescriptors) return false;
  if ((opened_devices[descriptor / 64] >> descriptor % 64 & 1) == 0) return false;
  struct stat status{};
  return raw_syscall(SYS_fstat, descriptor, reinterpret_cast<long>(&status)) == 0 &&
         is_random_device(status);
}

ssize_t fill_stream(void*, char* bytes, std::size_t count) {
  const Gate gate;
  fill(bytes, count);
  return static_cast<ssize_t>(count);
}

}  // namespace

namespace heddle::runtime {

bool random_is_path(const char* path) {
  return path != nullptr && (same_text(path, "/dev/urandom") || same_text(path, "/dev/random"));
}

void random_note_descriptor(int descriptor) {
  if (descriptor < 0 || descriptor >= kDescriptors) return;
  opened_devices[descriptor / 64] |= std::uint64_t{1} << descriptor % 64;
}

bool random_read(int descriptor, void* bytes, std::size_t count) {
  if (!is_random_device(descriptor)) return false;
  const Gate gate;
  if (!gate || !session().one_at_a_time()) return false;
  fill(bytes, count);
  return true;
}

FILE* random_stream() {
  return fopencookie(nullptr, "r", {fill_stream, nullptr, nullptr, nullptr});
}

}  // namespace heddle::runtime

HEDDLE_ENTRY ssize_t getrandom(void* bytes, std::size_t count, unsigned flags) {
  const Gate gate;
  if (!gate) return real().getrandom(bytes, count, flags);
  fill(bytes, count);
  return static_cast<ssize_t>(count);
}

HEDDLE_ENTRY int getentropy(void* bytes, std::size_t count) {
  const Gate gate;
  if (!gate) return real().getentropy(bytes, count);
  if (count > 256) {
    errno = EIO;
    return -1;
  }
  fill(bytes, count);
  return 0;
}

HEDDLE_ENTRY void arc4random_buf(void* bytes, std::size_t count) noexcept {
  ssize_t done = 0;
  while (done >= 0 && static_cast<std::size_t>(done) < count) {
    const ssize_t got =
        getrandom(static_cast<char*>(bytes) + done, count - static_cast<std::size_t>(done), 0);
    done = got < 0 ? done : done + got;
  }
}

HEDDLE_ENTRY std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  arc4random_buf(&value, sizeof value);
  return value;
}

HEDDLE_ENTRY std::uint32_t arc4random_uniform(std::uint32_t bound) noexcept {
  return bound < 2 ? 0 : static_cast<std::uint32_t>((std::uint64_t{arc4random()} * bound) >> 32);
}
