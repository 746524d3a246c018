// SPDX-License-Identifier: Apache-2.0
// A client inside the server it talks to. Linked with a server's own objects, it starts a thread
// when the server begins to listen, if CLIENT=PROTOCOL is set, has a conversation over loopback,
// and asks the server to end. So a server of which no line was changed is a program that ends by
// itself, in every variant, and under control both sides of the connection are scheduled: such a
// run replays. (A client in a process of its own works too, but when its packets come is real
// time.)
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kRoom = 4096 };

struct Exchange {
  const char* request;
  const char* reply;  // how the answer begins; null: none is waited for
  const char* end;    // what the answer ends with
};

static const struct Exchange kMemcached[] = {
    {"set colour 0 0 4\r\nblue\r\n", "STORED\r\n", "\r\n"},
    {"get colour\r\n", "VALUE colour 0 4\r\nblue\r\nEND\r\n", "END\r\n"},
    {"set count 0 0 2\r\n41\r\n", "STORED\r\n", "\r\n"},
    {"incr count 1\r\n", "42\r\n", "\r\n"},
    {"delete colour\r\n", "DELETED\r\n", "\r\n"},
    {"get colour\r\n", "END\r\n", "END\r\n"},
    {"shutdown\r\n", 0, 0},
    {0, 0, 0},
};
static const struct Exchange kRedis[] = {
    {"SET colour blue\r\n", "+OK\r\n", "\r\n"},
    {"GET colour\r\n", "$4\r\nblue\r\n", "blue\r\n"},
    {"RPUSH list one two three\r\n", ":3\r\n", "\r\n"},
    {"LINDEX list 1\r\n", "$3\r\ntwo\r\n", "two\r\n"},
    {"EVAL \"return redis.call('INCR', KEYS[1])\" 1 count\r\n", ":1\r\n", "\r\n"},
    {"UNLINK list\r\n", ":1\r\n", "\r\n"},
    {"SHUTDOWN NOSAVE\r\n", 0, 0},
    {0, 0, 0},
};
static const struct Exchange kHttp[] = {
    {"GET /page.html HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 OK\r\n", "</html>\n"},
    {"GET /none.html HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 404 Not Found\r\n",
     "</html>\n"},
    {0, 0, 0},
};

static const struct {
  const char* name;
  const struct Exchange* conversation;
  int signal;  // that ends a server whose protocol cannot ask for it
} kProtocols[] = {{"memcached", kMemcached, 0}, {"redis", kRedis, 0}, {"http", kHttp, SIGTERM}};

static void give_up(const char* what) {
  fprintf(stderr, "client: %s\n", what);
  _exit(3);
}

static int connected_to(int listener) {
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  if (getsockname(listener, (struct sockaddr*)&address, &length) != 0 ||
      connect(connection, (struct sockaddr*)&address, sizeof address) != 0) {
    give_up("cannot connect");
  }
  return connection;
}

static int ends_with(const char* text, size_t length, const char* end) {
  const size_t wanted = strlen(end);
  return length >= wanted && memcmp(text + length - wanted, end, wanted) == 0;
}

static void converse(int connection, const struct Exchange* exchange) {
  const size_t length = strlen(exchange->request);
  if (write(connection, exchange->request, length) != (ssize_t)length) give_up("cannot send");
  if (exchange->reply == 0) return;
  char answer[kRoom];
  size_t got = 0;
  while (!ends_with(answer, got, exchange->end)) {
    const ssize_t more = read(connection, answer + got, sizeof answer - got);
    if (more <= 0) give_up(exchange->request);
    got += (size_t)more;
  }
  if (strncmp(answer, exchange->reply, strlen(exchange->reply)) != 0) give_up(exchange->request);
}

static void* client(void* listener) {
  const char* const protocol = getenv("CLIENT");
  for (size_t i = 0; i < sizeof kProtocols / sizeof *kProtocols; ++i) {
    if (strcmp(protocol, kProtocols[i].name) != 0) continue;
    const int connection = connected_to((int)(intptr_t)listener);
    // What has an answer, as often as CLIENT_ROUNDS says; then what ends the server, if that can be
    // said.
    const struct Exchange* exchange = 0;
    const char* const rounds = getenv("CLIENT_ROUNDS");
    long answers = 0;
    for (long round = rounds ? atol(rounds) : 1; round > 0; --round) {
      exchange = kProtocols[i].conversation;
      for (; exchange->request != 0 && exchange->reply != 0; ++exchange, ++answers) {
        converse(connection, exchange);
      }
    }
    // Said before the server is asked to end: it may do so at once.
    fprintf(stderr, "client: all %ld answers as expected\n", answers);
    if (exchange && exchange->request != 0) converse(connection, exchange);
    if (kProtocols[i].signal != 0) kill(getpid(), kProtocols[i].signal);
    return 0;
  }
  give_up("no such protocol");
  return 0;
}

// Signals are for the server's own threads.
static int start_client(int listener) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int result = pthread_create(&thread, 0, client, (void*)(intptr_t)listener);
  pthread_sigmask(SIG_SETMASK, &before, 0);
  return result;
}

// In place of libc's.
int listen(int listener, int backlog) {
  static int started;
  const int result = (int)syscall(SYS_listen, listener, backlog);
  if (result == 0 && getenv("CLIENT") != 0 && started++ == 0 && start_client(listener) != 0) {
    give_up("no thread");
  }
  return result;
}
