// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <threads.h>
#include <time.h>

#include "../check.h"

static mtx_t mutex;
static cnd_t condition;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;
static int ready, once_calls, destroyed;

static void run_once(void) {
  thrd_yield();
  ++once_calls;
}

static void destroy(void* value) {
  destroyed += *(int*)value;
}

static int worker(void* argument) {
  static int one = 1;
  call_once(&flag, run_once);
  CHECK(once_calls == 1);
  tss_set(key, &one);
  CHECK(mtx_lock(&mutex) == thrd_success);
  while (!ready) CHECK(cnd_wait(&condition, &mutex) == thrd_success);
  CHECK(mtx_unlock(&mutex) == thrd_success);
  if (argument == NULL) thrd_exit(-7);
  return 5;
}

int main(void) {
  CHECK(mtx_init(&mutex, mtx_timed) == thrd_success && cnd_init(&condition) == thrd_success);
  CHECK(tss_create(&key, destroy) == thrd_success);
  thrd_t threads[3];
  for (int i = 0; i < 3; ++i) {
    CHECK(thrd_create(&threads[i], worker, i == 0 ? NULL : &mutex) == thrd_success);
  }
  const struct timespec second = {1, 0};
  CHECK(thrd_sleep(&second, NULL) == 0);
  mtx_lock(&mutex);
  CHECK(mtx_trylock(&mutex) == thrd_busy);
  ready = 1;
  cnd_broadcast(&condition);
  mtx_unlock(&mutex);
  for (int i = 0; i < 3; ++i) {
    int result = 0;
    CHECK(thrd_join(threads[i], &result) == thrd_success);
    CHECK(result == (i == 0 ? -7 : 5));
  }
  CHECK(destroyed == 3);
  struct timespec deadline;
  timespec_get(&deadline, TIME_UTC);
  deadline.tv_sec += 10;
  mtx_lock(&mutex);
  CHECK(cnd_timedwait(&condition, &mutex, &deadline) == thrd_timedout);
  CHECK(mtx_timedlock(&mutex, &deadline) == thrd_timedout);
  mtx_unlock(&mutex);
  mtx_destroy(&mutex);
  cnd_destroy(&condition);
  puts("done");
  return 0;
}
