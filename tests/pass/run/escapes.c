// SPDX-License-Identifier: Apache-2.0
// Memory that reaches another thread by roundabout ways: each is a way for the sharing analysis to
// lose sight of it, which tests/audit would notice. Beside each, memory that stays at home.
// HOOKS: __heddle_load4 __heddle_store4
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWays = 12 };

struct Stream {
  int numbers[6];
  void* (*allocate)(void* opaque, size_t bytes);
  void (*release)(void* opaque, void* memory);
  void (*publish)(int* number);
  void* opaque;
  int* state;
  int* other;
};

struct Node {
  struct Node* next;
  int number;
};

static volatile int one = 1;
static int* told[kWays];
static unsigned char bytes_told[sizeof(int*)];
static uint32_t halves_told[2];
static uint64_t word_told;
static struct Stream stream_told;
static struct Node* list_told;

static void* allocate_default(void* opaque, size_t bytes) {
  (void)opaque;
  return malloc(bytes);
}
static void release_default(void* opaque, void* memory) {
  (void)opaque;
  if (memory != NULL) free(memory);
}
static void publish_first(int* number) {
  told[0] = number;
}
static void publish_nothing(int* number) {
  *number += one;
}
static void publish_second(int* number) {
  told[1] = number;
}
static void (*const publishers[])(int*) = {publish_nothing, publish_second};

static __attribute__((noinline)) int* new_number(struct Stream* stream, int value) {
  int* number = stream->allocate(stream->opaque, 4 * sizeof *number);
  for (int i = 0; i < 4; ++i) number[i] = value * one;
  return number;
}

static __attribute__((noinline)) void copy_bytes(unsigned char* to, const unsigned char* from,
                                                 size_t bytes) {
  for (volatile size_t i = 0; i < bytes; ++i) to[i] = from[i];
}

static int by_size(const void* a, const void* b) {
  int* const* const left = a;
  int* const* const right = b;
  told[9] = *left;  // the library calls back with what it was given
  return (**left > **right) - (**left < **right);
}

static void* reader(void* unused) {
  (void)unused;
  int sum = 0;
  for (int i = 0; i < kWays; ++i) {
    if (told[i] != NULL) sum += (*told[i])++;
  }
  int* hidden;
  copy_bytes((unsigned char*)&hidden, bytes_told, sizeof hidden);
  sum += (*hidden)++;
  hidden = (int*)(uintptr_t)((uint64_t)halves_told[1] << 32 | halves_told[0]);
  sum += (*hidden)++;
  hidden = (int*)(uintptr_t)(word_told ^ 0x5a5a);
  sum += (*hidden)++;
  sum += (*stream_told.other)++;
  for (struct Node* node = list_told; node != NULL; node = node->next) sum += node->number++;
  return (void*)(intptr_t)sum;
}

int main(void) {
  struct Stream mine = {
      .allocate = allocate_default, .release = release_default, .publish = publish_nothing};
  struct Stream given = {
      .allocate = allocate_default, .release = release_default, .publish = publish_first};
  int sum = 0;

  // Allocated through a pointer to a function; published through another one, or not.
  mine.state = new_number(&mine, 1);
  given.state = new_number(&given, 2);
  mine.publish(mine.state);
  given.publish(given.state);
  int through_table[2] = {3, 4};
  publishers[one](&through_table[one]);

  // One field of a structure is handed over, another is not.
  given.other = new_number(&given, 5);
  mine.other = new_number(&mine, 6);
  stream_told = given;
  stream_told.state = NULL;

  // In pieces, and as a number.
  int in_bytes[2] = {7, 7};
  int* address = &in_bytes[one];
  copy_bytes(bytes_told, (const unsigned char*)&address, sizeof address);
  int in_halves = 8 * one;
  halves_told[0] = (uint32_t)(uintptr_t)&in_halves;
  halves_told[1] = (uint32_t)((uintptr_t)&in_halves >> 32);
  int as_number = 9 * one;
  word_told = (uintptr_t)&as_number ^ 0x5a5a;

  // From the address of a neighbour, by an index and by the way back from a member.
  told[2] = &given.numbers[5 * one];
  struct Node first = {NULL, 10};
  int* const member = &first.number;
  list_told = (struct Node*)((char*)member - offsetof(struct Node, number));
  struct Node own = {NULL, 11};

  // Copied with what it is in.
  struct Stream copy;
  copy.state = new_number(&mine, 12);
  struct Stream* const copied = malloc(sizeof *copied);
  memcpy(copied, &copy, sizeof copy);
  told[3] = copied->state;
  int* moved = malloc(4 * sizeof *moved);
  moved[0] = 13;
  moved = realloc(moved, 64 * sizeof *moved);
  told[4] = moved;

  // Chosen, and by way of a function of the library that calls back.
  int here = 14, there = 15;
  told[5] = one != 0 ? &here : &there;
  int small = 16, large = 17;
  int* sorted[2] = {&large, &small};
  qsort(sorted, 2, sizeof sorted[0], by_size);

  pthread_t thread;
  void* result;
  pthread_create(&thread, NULL, reader, NULL);
  // While the other has it: what it has not stays here.
  for (int i = 0; i < 4; ++i) sum += mine.state[i] + mine.other[i] + mine.numbers[i] + own.number;
  pthread_join(thread, &result);
  sum += given.state[0] + through_table[one] + given.other[0] + in_bytes[one] + in_halves +
         as_number + given.numbers[5] + first.number + copy.state[0] + moved[0] + here + there +
         small + large;
  printf("%d %d\n", (int)(intptr_t)result, sum);
  mine.release(mine.opaque, mine.state);
  mine.release(mine.opaque, mine.other);
  given.release(given.opaque, given.state);
  given.release(given.opaque, given.other);
  free(copy.state);
  free(copied);
  free(moved);
  return 0;
}
