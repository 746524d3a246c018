// SPDX-License-Identifier: Apache-2.0
// EXPECT: unsupported
// A child waits natively for a condition variable that is signalled under control.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
};

int main(void) {
  struct shared* const memory =
      mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t mutex;
  pthread_condattr_t condition;
  pthread_mutexattr_init(&mutex);
  pthread_condattr_init(&condition);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&memory->mutex, &mutex);
  pthread_cond_init(&memory->condition, &condition);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    pthread_mutex_lock(&memory->mutex);
    pthread_cond_wait(&memory->condition, &memory->mutex);
    _exit(0);
  }
  usleep(1000);
  pthread_cond_signal(&memory->condition);
  waitpid(child, NULL, 0);
  return 0;
}
