// SPDX-License-Identifier: Apache-2.0
//
// Natively a use of freed memory often goes unnoticed. A pinned program whose failure is one keeps
// the memory it frees for a while: freeing it again, or coming to a woven place with an address in
// it, ends the program. The pins bring the thread there; this only looks.
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void __libc_free(void* memory);
void __heddle_woven_check_freed(const void* address);

enum { kKept = 1024, kLargest = 1 << 16 };

struct freed {
  uintptr_t begin;
  uintptr_t end;
};

static struct freed kept[kKept];
static unsigned next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char* what) {
  const ssize_t written = write(STDERR_FILENO, what, strlen(what));
  (void)written;
  abort();
}

static int is_freed(uintptr_t address) {
  for (unsigned i = 0; i < kKept; ++i) {
    if (address >= kept[i].begin && address < kept[i].end) return 1;
  }
  return 0;
}

void free(void* memory) {
  if (!memory) return;
  const size_t size = malloc_usable_size(memory);
  const uintptr_t begin = (uintptr_t)memory;
  void* oldest = memory;
  pthread_mutex_lock(&lock);
  const int again = is_freed(begin);
  if (!again && size <= kLargest) {
    oldest = (void*)kept[next].begin;
    kept[next].begin = begin;
    kept[next].end = begin + size;
    next = (next + 1) % kKept;
  }
  pthread_mutex_unlock(&lock);
  if (again) fail("heddle: memory was freed twice\n");
  __libc_free(oldest);
}

void __heddle_woven_check_freed(const void* address) {
  pthread_mutex_lock(&lock);
  const int freed = address && is_freed((uintptr_t)address);
  pthread_mutex_unlock(&lock);
  if (freed) fail("heddle: freed memory was used\n");
}
