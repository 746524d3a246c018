// SPDX-License-Identifier: Apache-2.0
//
// A child is not controlled: its breakpoints wait as they do natively, also when its parent forked
// while another thread was postponed.
#include <heddle/breakpoint_c.h>

#include <assert.h>
#include <sys/wait.h>

static int object;

static void* waits(void* arg) {
  heddle_bp_conflict("parent", 0, &object);
  return arg;
}

static void* meets(void* arg) {
  *(int*)arg = heddle_bp_conflict("child", 1, &object, .pause_ms = 10000);
  return 0;
}

static int child(void) {
  pthread_t thread;
  int met = 0;
  pthread_create(&thread, 0, meets, &met);
  const int hit = heddle_bp_conflict("child", 0, &object, .pause_ms = 10000);
  pthread_join(thread, 0);
  return hit && met ? 7 : 1;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, waits, 0);
  const pid_t process = fork();
  if (process == 0) _exit(child());
  int status = 0;
  waitpid(process, &status, 0);
  assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  pthread_join(thread, 0);
  return 0;
}
