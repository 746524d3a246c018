// SPDX-License-Identifier: Apache-2.0
// Reading a line that another thread has yet to write, or to write the rest of; a stream that
// another thread has locked; a reader that is cancelled.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
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

static pthread_mutex_t between = PTHREAD_MUTEX_INITIALIZER;

// In pieces, which other threads see between.
static void* write_pieces(void* text) {
  for (const char* at = text; *at != '\0'; ++at) {
    pthread_mutex_lock(&between);
    assert(write(ends[1], at, 1) == 1);
    pthread_mutex_unlock(&between);
  }
  return NULL;
}

// Two readers of one stream get whole lines.
static void* read_pieces(void* unused) {
  char* line = NULL;
  size_t room = 0;
  assert(getline(&line, &room, input) == 4 && strcmp(line, "ab;\n") == 0);
  free(line);
  return unused;
}

// What ends a number is looked at, and stays.
static void* scan_pieces(void* unused) {
  int number = 0;
  char word[8];
  assert(fscanf(input, "%d%2s", &number, word) == 2 && number == -173 && strcmp(word, "ab") == 0);
  assert(fgetc(input) == 'c');
  assert(fscanf(input, "%d", &number) == 0 && fgetc(input) == ';');
  assert(fscanf(input, " %d", &number) == 1 && number == 9);
  assert(fscanf(input, "%d", &number) == EOF && feof(input));
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

  char pieces[] = "one\nsix;ab;\nab;\nseven.";
  pthread_create(&thread, NULL, &write_pieces, pieces);
  char text[100];
  assert(fgets(text, sizeof text, input) == text && strcmp(text, "one\n") == 0);
  char* line = NULL;
  size_t room = 0;
  assert(getdelim(&line, &room, ';', input) == 4 && strcmp(line, "six;") == 0);
  free(line);
  pthread_t readers[2];
  for (int i = 0; i < 2; ++i) pthread_create(&readers[i], NULL, &read_pieces, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(readers[i], NULL);
  assert(fread(text, 2, 3, input) == 3 && memcmp(text, "seven.", 6) == 0);
  pthread_join(thread, NULL);

  clearerr(input);
  pthread_create(&thread, NULL, &scan_pieces, NULL);
  char scanned[] = "  -173abc; 9";
  write_pieces(scanned);
  close(ends[1]);
  pthread_join(thread, NULL);
  assert(fgets(text, sizeof text, input) == NULL && feof(input) && !ferror(input));

  pthread_t printers[2];
  for (int i = 0; i < 2; ++i) pthread_create(&printers[i], NULL, &print_twice, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(printers[i], NULL);
  puts("done");
  return 0;
}
