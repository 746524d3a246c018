// SPDX-License-Identifier: Apache-2.0
//
// Racey, fixed: a round is one critical section.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { kRounds = 2 };

struct mixture {
  pthread_mutex_t lock;
  _Atomic unsigned cell[2];
};

static unsigned mix(unsigned a, unsigned b) {
  return a * 1103515245u + b * 12345u + 1u;
}

static void round_of(struct mixture* m, unsigned number) {
  unsigned a = atomic_load(&m->cell[0]);
  unsigned b = atomic_load(&m->cell[1]);
  atomic_store(&m->cell[0], mix(a, b + number));
  atomic_store(&m->cell[1], mix(b, a + number));
}

static void stir(struct mixture* m, unsigned number) {
  for (int i = 0; i < kRounds; ++i) {
    pthread_mutex_lock(&m->lock);
    round_of(m, number);
    pthread_mutex_unlock(&m->lock);
  }
}

static void* second(void* arg) {
  stir(arg, 7);
  return NULL;
}

/// Whether some order of whole rounds gives `result`: bit i of the order says who does round i.
static int is_serial(const unsigned result[2]) {
  for (unsigned order = 0; order < 16; ++order) {
    unsigned sevens = 0;
    for (unsigned i = 0; i < 4; ++i) sevens += (order >> i) & 1;
    if (sevens != kRounds) continue;
    unsigned cell[2] = {0, 0};
    for (unsigned i = 0; i < 4; ++i) {
      unsigned number = ((order >> i) & 1) ? 7 : 3;
      unsigned a = mix(cell[0], cell[1] + number);
      cell[1] = mix(cell[1], cell[0] + number);
      cell[0] = a;
    }
    if (cell[0] == result[0] && cell[1] == result[1]) return 1;
  }
  return 0;
}

int main(void) {
  struct mixture* m = calloc(1, sizeof *m);
  if (m == NULL) return 1;
  pthread_mutex_init(&m->lock, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, second, m);
  stir(m, 3);
  pthread_join(thread, NULL);
  unsigned result[2] = {atomic_load(&m->cell[0]), atomic_load(&m->cell[1])};
  assert(is_serial(result));
  free(m);
  return 0;
}
