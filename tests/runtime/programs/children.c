// SPDX-License-Identifier: Apache-2.0
// fork, posix_spawn, system, popen from a thread; a child that needs the parent's other threads.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../check.h"

extern char** environ;
static int to_child[2], from_child[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t nested = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void* native(void* unused) {
  for (int i = 0; i < 100; ++i) free(malloc(100));
  return unused;
}

// A child is a program of its own: its threads are the kernel's, and a mutex its thread had taken
// before is its own.
static void child(void) {
  char c = 0;
  if (read(to_child[0], &c, 1) != 1 || c != 'x') _exit(1);
  pthread_mutex_unlock(&nested);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) {
    if (pthread_create(&threads[i], NULL, native, NULL) != 0) _exit(2);
  }
  native(NULL);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  if (pthread_mutex_lock(&nested) != 0 || pthread_mutex_unlock(&nested) != 0) _exit(3);
  if (write(from_child[1], "y", 1) != 1) _exit(4);
  _exit(7);
}

static void* forks(void* unused) {
  pthread_mutex_lock(&nested);
  const pid_t pid = fork();
  if (pid == 0) child();
  pthread_mutex_unlock(&nested);
  int status = 0;
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  return unused;
}

static void* feeds(void* unused) {
  pthread_mutex_lock(&mutex);
  CHECK(write(to_child[1], "x", 1) == 1);
  pthread_mutex_unlock(&mutex);
  char c = 0;
  CHECK(read(from_child[0], &c, 1) == 1 && c == 'y');
  return unused;
}

static void* spawns(void* unused) {
  char* arguments[] = {"sh", "-c", "exit 5", NULL};
  pid_t pid = 0;
  CHECK(posix_spawnp(&pid, "sh", NULL, NULL, arguments, environ) == 0);
  siginfo_t info;
  CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED) == 0);
  CHECK(info.si_pid == pid && info.si_status == 5);
  CHECK(WEXITSTATUS(system("exit 3")) == 3);
  FILE* output = popen("echo hello", "r");
  char line[16] = "";
  CHECK(fgets(line, sizeof line, output) != NULL && strcmp(line, "hello\n") == 0);
  CHECK(pclose(output) == 0);
  return unused;
}

int main(void) {
  CHECK(pipe(to_child) == 0 && pipe(from_child) == 0);
  pthread_t threads[3];
  pthread_create(&threads[0], NULL, forks, NULL);
  pthread_create(&threads[1], NULL, feeds, NULL);
  pthread_create(&threads[2], NULL, spawns, NULL);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
  puts("done");
  return 0;
}
