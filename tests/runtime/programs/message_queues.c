// SPDX-License-Identifier: Apache-2.0
// Threads that wait for each other through POSIX message queues, System V queues and semaphores.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <time.h>

#include "../check.h"

enum { kMessages = 5 };
static mqd_t queue;
static int old_queue, semaphores;

static void* send_messages(void* unused) {
  for (char i = 0; i < kMessages; ++i) CHECK(mq_send(queue, &i, 1, 0) == 0);
  return unused;
}

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void posix_queue(void) {
  char name[32], bytes[8];
  snprintf(name, sizeof name, "/heddle-test-%d", (int)getpid());
  struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = sizeof bytes};
  queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
  CHECK(queue != (mqd_t)-1);
  mq_unlink(name);
  pthread_t thread;
  pthread_create(&thread, NULL, send_messages, NULL);
  for (char i = 0; i < kMessages; ++i) {
    CHECK(mq_receive(queue, bytes, sizeof bytes, NULL) == 1 && bytes[0] == i);
  }
  pthread_join(thread, NULL);
  const long later = now() + 2000000;
  const struct timespec until = {later / 1000000000, later % 1000000000};
  CHECK(mq_timedreceive(queue, bytes, sizeof bytes, NULL, &until) == -1 && errno == ETIMEDOUT);
  CHECK(now() >= later);
  attributes.mq_flags = O_NONBLOCK;
  CHECK(mq_setattr(queue, &attributes, NULL) == 0);
  CHECK(mq_receive(queue, bytes, sizeof bytes, NULL) == -1 && errno == EAGAIN);
  CHECK(mq_close(queue) == 0);
}

struct message {
  long type;
  int value;
};

static void* answer(void* unused) {
  struct message message;
  for (int i = 0; i < kMessages; ++i) {
    CHECK(msgrcv(old_queue, &message, sizeof message.value, 1, 0) == sizeof message.value);
    message.type = 2;
    message.value *= 2;
    CHECK(msgsnd(old_queue, &message, sizeof message.value, 0) == 0);
  }
  return unused;
}

static void system_v_queue(void) {
  old_queue = msgget(IPC_PRIVATE, 0600);
  CHECK(old_queue >= 0);
  pthread_t thread;
  pthread_create(&thread, NULL, answer, NULL);
  for (int i = 0; i < kMessages; ++i) {
    struct message message = {1, i};
    CHECK(msgsnd(old_queue, &message, sizeof message.value, 0) == 0);
    CHECK(msgrcv(old_queue, &message, sizeof message.value, 2, 0) == sizeof message.value);
    CHECK(message.value == 2 * i);
  }
  pthread_join(thread, NULL);
  struct message none;
  CHECK(msgrcv(old_queue, &none, sizeof none.value, 0, IPC_NOWAIT) == -1 && errno == ENOMSG);
  CHECK(msgctl(old_queue, IPC_RMID, NULL) == 0);
}

static void change(unsigned short which, short by) {
  struct sembuf operation = {which, by, 0};
  CHECK(semop(semaphores, &operation, 1) == 0);
}

static void* other_turns(void* unused) {
  for (int i = 0; i < kMessages; ++i) {
    change(0, -1);
    change(1, 1);
  }
  return unused;
}

static void system_v_semaphores(void) {
  semaphores = semget(IPC_PRIVATE, 3, 0600);
  CHECK(semaphores >= 0);
  pthread_t thread;
  pthread_create(&thread, NULL, other_turns, NULL);
  for (int i = 0; i < kMessages; ++i) {
    change(0, 1);
    change(1, -1);
  }
  pthread_join(thread, NULL);
  // Several at once, on one semaphore too, or none.
  struct sembuf both[] = {{2, 0, 0}, {2, 3, 0}, {2, -1, 0}, {1, -1, IPC_NOWAIT}};
  CHECK(semop(semaphores, both, 4) == -1 && errno == EAGAIN);
  CHECK(semctl(semaphores, 2, GETVAL) == 0);
  change(1, 1);
  CHECK(semop(semaphores, both, 4) == 0 && semctl(semaphores, 2, GETVAL) == 2);
  struct sembuf much = {2, -9, 0};
  const struct timespec limit = {0, 2000000};
  const long before = now();
  CHECK(semtimedop(semaphores, &much, 1, &limit) == -1 && errno == EAGAIN);
  CHECK(now() >= before + 2000000);
  CHECK(semctl(semaphores, 0, IPC_RMID) == 0);
}

int main(void) {
  posix_queue();
  system_v_queue();
  system_v_semaphores();
  return 0;
}
