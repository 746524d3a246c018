// SPDX-License-Identifier: Apache-2.0
// Reading a line that another thread has yet to write, a stream that another thread has locked, and
// a reader that is cancelled.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int ends[2];
static FILE* input;
static int printed;

static void* read_lines(void* unused) {
  char text[100];
  assert(fgets(text, sizeof text, input) == text && strcmp(text, "hello\n") == 0);
  int number = 0;
  assert(fscanf(input, "%d\n", &number) == 1 && number == 42);
  return unused;
}

static void* read_for_ever(void* unused) {
  char text[100];
  fgets(text, sizeof text, input);
  return unused;
}

static void* print_twice(void* unused) {
  flockfile(stdout);
  const int before = printed++;
  sched_yield();
  assert(printed == before + 1);  // nobody else has the stream
  funlockfile(stdout);
  return unused;
}

int main(void) {
  assert(pipe(ends) == 0);
  input = fdopen(ends[0], "r");
  pthread_t thread;
  pthread_create(&thread, NULL, &read_lines, NULL);
  assert(write(ends[1], "hello\n", 6) == 6);
  sched_yield();
  assert(write(ends[1], "42\nx", 4) == 4);
  pthread_join(thread, NULL);
  assert(fgetc(input) == 'x');

  pthread_create(&thread, NULL, &read_for_ever, NULL);
  pthread_cancel(thread);
  void* result = NULL;
  pthread_join(thread, &result);
  assert(result == PTHREAD_CANCELED);

  pthread_t printers[2];
  for (int i = 0; i < 2; ++i) pthread_create(&printers[i], NULL, &print_twice, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(printers[i], NULL);
  puts("done");
  return 0;
}
