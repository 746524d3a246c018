// SPDX-License-Identifier: Apache-2.0
//
// Buffered log. Each request copies its line to the end of the buffer and then advances the end.
// Two that read the same end write over each other, and the end runs ahead of what was written.
// Origin: Shape of Apache httpd's buffered access log, whose index is read, used and advanced
// unprotected.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

enum { kLine = 2 };

struct log {
  pthread_mutex_t lock;
  int end;
  char text[8];
};

static int log_end(struct log* l) {
  pthread_mutex_lock(&l->lock);
  int end = l->end;  // heddle: culprit read
  pthread_mutex_unlock(&l->lock);
  return end;
}

static void log_line(struct log* l, char letter) {
  int end = log_end(l);
  pthread_mutex_lock(&l->lock);
  for (int i = 0; i < kLine; ++i) l->text[end + i] = letter;
  l->end += kLine;  // heddle: culprit advance
  pthread_mutex_unlock(&l->lock);
}

static void* request(void* arg) {
  log_line(arg, 'b');
  return NULL;
}

int main(void) {
  struct log* l = calloc(1, sizeof *l);
  if (l == NULL) return 1;
  pthread_mutex_init(&l->lock, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, request, l);
  log_line(l, 'a');
  pthread_join(thread, NULL);
  assert(log_end(l) == 2 * kLine && l->text[0] != 0 && l->text[kLine] != 0);
  free(l);
  return 0;
}
