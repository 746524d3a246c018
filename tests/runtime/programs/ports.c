// SPDX-License-Identifier: Apache-2.0
// A server sees the same port of its client in every run with a seed, and the client agrees.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../check.h"

enum { kClients = 2 };
static struct sockaddr_in listener_address;

static int port_by(int (*name)(int, struct sockaddr*, socklen_t*), int descriptor) {
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  CHECK(name(descriptor, (struct sockaddr*)&address, &length) == 0);
  CHECK(length == sizeof address && address.sin_family == AF_INET);
  CHECK(address.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
  return ntohs(address.sin_port);
}

static void* client(void* unused) {
  (void)unused;
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(connection, (struct sockaddr*)&listener_address, sizeof listener_address) == 0);
  CHECK(port_by(getpeername, connection) == ntohs(listener_address.sin_port));
  const int own = port_by(getsockname, connection);
  CHECK(write(connection, &own, sizeof own) == sizeof own);
  CHECK(close(connection) == 0);
  return NULL;
}

int main(void) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  listener_address.sin_family = AF_INET;
  listener_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(listener, (struct sockaddr*)&listener_address, sizeof listener_address) == 0);
  socklen_t length = sizeof listener_address;
  CHECK(getsockname(listener, (struct sockaddr*)&listener_address, &length) == 0);
  CHECK(listen(listener, kClients) == 0);
  pthread_t clients[kClients];
  for (int i = 0; i < kClients; ++i) CHECK(pthread_create(&clients[i], NULL, client, NULL) == 0);
  for (int i = 0; i < kClients; ++i) {
    struct sockaddr_in caller;
    length = sizeof caller;
    const int connection = accept(listener, (struct sockaddr*)&caller, &length);
    CHECK(connection >= 0);
    CHECK(port_by(getpeername, connection) == ntohs(caller.sin_port));
    int told = 0;
    CHECK(read(connection, &told, sizeof told) == sizeof told);
    CHECK(told == ntohs(caller.sin_port));
    printf("called by %d\n", told);
    CHECK(close(connection) == 0);
  }
  for (int i = 0; i < kClients; ++i) CHECK(pthread_join(clients[i], NULL) == 0);
  CHECK(close(listener) == 0);
  return 0;
}
