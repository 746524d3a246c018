// SPDX-License-Identifier: Apache-2.0
#include "runtime/checkpoint/descriptors.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "runtime/base/system.h"
#include "runtime/base/text.h"
#include "runtime/sync/outside.h"

namespace heddle::runtime {
namespace {

using abi::DescriptorKind;
using abi::ImageDescriptor;

constexpr const char* kStreamNames[kStreams] = {"/memfd:heddle-input", "/memfd:heddle-output",
                                                "/memfd:heddle-error"};

bool begins_with(const char* text, const char* beginning) {
  while (*beginning != 0) {
    if (*text++ != *beginning++) return false;
  }
  return true;
}

bool ends_with(const char* text, const char* ending) {
  const char* last = text;
  const char* at = ending;
  while (*last != 0) ++last;
  while (*at != 0) ++at;
  while (at != ending) {
    if (last == text) return false;
    --last;
    --at;
    if (*last != *at) return false;
  }
  return true;
}

/// "/proc/self/fd/7" and its kin.
void name_of_descriptor(char (&out)[64], const char* directory, int number) {
  std::size_t at = 0;
  while (directory[at] != 0) {
    out[at] = directory[at];
    ++at;
  }
  char digits[12];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) out[at++] = digits[--count];
  out[at] = 0;
}

std::uint64_t number_at(const char* at, unsigned base) {
  while (*at == ' ' || *at == '\t') ++at;
  return read_number(at, base);
}

/// Behind the next `word` in [at, end of line]; nullptr if it is not there.
const char* behind(const char* at, const char* word) {
  for (; *at != 0 && *at != '\n'; ++at) {
    if (!begins_with(at, word)) continue;
    while (*word++ != 0) ++at;
    return at;
  }
  return nullptr;
}

const char* next_line(const char* at) {
  while (*at != 0 && *at != '\n') ++at;
  return *at == 0 ? at : at + 1;
}

/// What the kernel says of a descriptor. False if it does not fit.
bool read_info(int number, char* text, std::size_t room) {
  char name[64];
  name_of_descriptor(name, "/proc/self/fdinfo/", number);
  const long file =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(name), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::size_t used = 0;
  for (;;) {
    const long got = raw_syscall(SYS_read, file, reinterpret_cast<long>(text + used),
                                 static_cast<long>(room - 1 - used));
    if (got <= 0) break;
    used += static_cast<std::size_t>(got);
  }
  raw_syscall(SYS_close, file);
  text[used] = 0;
  return used < room - 1;
}

bool add_watches(DescriptorTable& table, int epoll) {
  if (!read_info(epoll, table.text, sizeof table.text)) return false;
  for (const char* line = table.text; *line != 0; line = next_line(line)) {
    if (!begins_with(line, "tfd:")) continue;
    const char* const events = behind(line, "events:");
    const char* const data = behind(line, "data:");
    if (events == nullptr || data == nullptr || table.watches == DescriptorTable::kMostWatches) {
      return false;
    }
    table.watched[table.watches++] = {epoll, static_cast<std::int32_t>(number_at(line + 4, 10)),
                                      static_cast<std::uint32_t>(number_at(events, 16)), 0,
                                      number_at(data, 16)};
  }
  return true;
}

bool read_event(DescriptorTable& table, ImageDescriptor& descriptor) {
  if (!read_info(descriptor.number, table.text, sizeof table.text)) return false;
  for (const char* line = table.text; *line != 0; line = next_line(line)) {
    if (begins_with(line, "eventfd-count:")) descriptor.subject = number_at(line + 14, 16);
    if (begins_with(line, "eventfd-semaphore:") && number_at(line + 18, 10) != 0) {
      descriptor.path[0] = 's';
    }
  }
  return true;
}

bool read_file(ImageDescriptor& descriptor) {
  if (ends_with(descriptor.path, " (deleted)")) return false;
  descriptor.kind = DescriptorKind::File;
  return true;
}

bool read_pipe(ImageDescriptor& descriptor, const struct stat& status) {
  int waiting = 0;
  raw_syscall(SYS_ioctl, descriptor.number, FIONREAD, reinterpret_cast<long>(&waiting));
  descriptor.kind = DescriptorKind::Pipe;
  descriptor.subject = status.st_ino;
  return waiting == 0;
}

/// Fills in what `descriptor.number` is. False if it could not be made again.
bool read_one(DescriptorTable& table, ImageDescriptor& descriptor) {
  char name[64];
  name_of_descriptor(name, "/proc/self/fd/", descriptor.number);
  const long length =
      raw_syscall(SYS_readlink, reinterpret_cast<long>(name),
                  reinterpret_cast<long>(descriptor.path), sizeof descriptor.path - 1);
  if (length < 0 || length == static_cast<long>(sizeof descriptor.path) - 1) return false;
  descriptor.path[length] = 0;
  struct stat status{};
  raw_syscall(SYS_fstat, descriptor.number, reinterpret_cast<long>(&status));
  descriptor.status_flags = static_cast<int>(raw_syscall(SYS_fcntl, descriptor.number, F_GETFL));
  descriptor.descriptor_flags =
      static_cast<int>(raw_syscall(SYS_fcntl, descriptor.number, F_GETFD));
  descriptor.offset = raw_syscall(SYS_lseek, descriptor.number, 0, SEEK_CUR);
  for (int i = 0; i < kStreams; ++i) {
    if (!begins_with(descriptor.path, kStreamNames[i])) continue;
    descriptor.kind = DescriptorKind::Stream;
    descriptor.subject = static_cast<std::uint64_t>(i);
    return true;
  }
  if (outside_is_plain(status.st_mode)) return read_file(descriptor);
  const bool internal = outside_is_internal(descriptor.number);
  if (same_text(descriptor.path, "anon_inode:[eventpoll]")) {
    descriptor.kind = DescriptorKind::Epoll;
    return add_watches(table, descriptor.number);
  }
  descriptor.path[0] = begins_with(descriptor.path, "anon_inode:[eventfd]") ? 'e' : 0;
  if (descriptor.path[0] != 0) {
    descriptor.kind = DescriptorKind::Event;
    return read_event(table, descriptor);
  }
  if (internal && S_ISFIFO(status.st_mode)) return read_pipe(descriptor, status);
  descriptor.kind = DescriptorKind::StandIn;
  return !internal;
}

}  // namespace

bool DescriptorTable::read() {
  count = watches = 0;
  for (int number = 0; number < abi::kChannelDescriptor; ++number) {
    if (raw_syscall(SYS_fcntl, number, F_GETFD) < 0) continue;
    ImageDescriptor& descriptor = descriptors[count++];
    descriptor = {};
    descriptor.number = number;
    if (!read_one(*this, descriptor)) return false;
  }
  return true;
}

}  // namespace heddle::runtime
