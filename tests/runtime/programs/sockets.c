// SPDX-License-Identifier: Apache-2.0
// A server and its clients as threads of one program: TCP, poll, select, epoll, time limits.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>

#include "../check.h"

enum { kClients = 3 };
static int listener;
static struct sockaddr_in address;

static void* client(void* number) {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(s, (struct sockaddr*)&address, sizeof address) == 0);
  const char mine = (char)('a' + (long)number);
  CHECK(send(s, &mine, 1, 0) == 1);
  char answer = 0;
  CHECK(recv(s, &answer, 1, 0) == 1 && answer == mine - 'a' + 'A');
  close(s);
  return NULL;
}

static void* serve(void* unused) {
  for (int i = 0; i < kClients; ++i) {
    const int s = accept(listener, NULL, NULL);
    CHECK(s >= 0);
    struct pollfd polled = {s, POLLIN, 0};
    CHECK(poll(&polled, 1, -1) == 1 && (polled.revents & POLLIN) != 0);
    char c = 0;
    CHECK(read(s, &c, 1) == 1);
    c = (char)(c - 'a' + 'A');
    CHECK(write(s, &c, 1) == 1);
    close(s);
  }
  return unused;
}

static int pair[2];

static void* say(void* word) {
  CHECK(send(pair[1], word, strlen(word), 0) == (ssize_t)strlen(word));
  return NULL;
}

static long elapsed(const struct timespec* since) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

int main(void) {
  listener = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(listener, (struct sockaddr*)&address, sizeof address) == 0);
  socklen_t length = sizeof address;
  CHECK(getsockname(listener, (struct sockaddr*)&address, &length) == 0);
  CHECK(listen(listener, 8) == 0);
  pthread_t server, clients[kClients];
  pthread_create(&server, NULL, serve, NULL);
  for (long i = 0; i < kClients; ++i) pthread_create(&clients[i], NULL, client, (void*)i);
  for (int i = 0; i < kClients; ++i) pthread_join(clients[i], NULL);
  pthread_join(server, NULL);

  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  char buffer[8];
  pthread_create(&server, NULL, say, "one");
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pair[0], &set);
  CHECK(select(pair[0] + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(pair[0], &set));
  CHECK(recv(pair[0], buffer, sizeof buffer, 0) == 3);
  pthread_join(server, NULL);

  const int epoll = epoll_create1(0);
  struct epoll_event event = {EPOLLIN, {.fd = pair[0]}};
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event) == 0);
  pthread_create(&server, NULL, say, "two");
  memset(&event, 0, sizeof event);
  CHECK(epoll_wait(epoll, &event, 1, -1) == 1 && event.data.fd == pair[0]);
  CHECK(recv(pair[0], buffer, sizeof buffer, 0) == 3);
  pthread_join(server, NULL);

  // Nothing comes: each call is over when its time is, and that time has passed on the clock.
  struct timespec before;
  clock_gettime(CLOCK_MONOTONIC, &before);
  CHECK(epoll_wait(epoll, &event, 1, 5) == 0 && elapsed(&before) >= 5);
  clock_gettime(CLOCK_MONOTONIC, &before);
  struct pollfd polled = {pair[0], POLLIN, 0};
  CHECK(poll(&polled, 1, 5) == 0 && elapsed(&before) >= 5);
  CHECK(poll(NULL, 0, 3600000) == 0 && elapsed(&before) >= 3600000);
  struct timeval limit = {0, 5000};
  FD_SET(pair[0], &set);
  CHECK(select(pair[0] + 1, &set, NULL, NULL, &limit) == 0 && !FD_ISSET(pair[0], &set));
  CHECK(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  CHECK(recv(pair[0], buffer, sizeof buffer, 0) == -1 && errno == EAGAIN);
  CHECK(recv(pair[0], buffer, sizeof buffer, MSG_DONTWAIT) == -1 && errno == EAGAIN);
  shutdown(pair[1], SHUT_WR);
  CHECK(recv(pair[0], buffer, sizeof buffer, 0) == 0);
  puts("done");
  return 0;
}
