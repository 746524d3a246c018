// SPDX-License-Identifier: Apache-2.0
// Every width and type a plain access can have.
// HOOKS: __heddle_load1 __heddle_load2 __heddle_load4 __heddle_load8
// HOOKS: __heddle_store1 __heddle_store2 __heddle_store4 __heddle_store8
// HOOKS: __heddle_range_read __heddle_range_write
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef float float2 __attribute__((vector_size(8)));
typedef int int4 __attribute__((vector_size(16)));
typedef signed char char4 __attribute__((vector_size(4)));

struct __attribute__((packed)) Packed {
  char lead;
  int32_t odd;
  double far_off;
};
struct Bits {
  unsigned a : 3;
  unsigned b : 13;
  signed c : 9;
  bool d : 1;
};
union Words {
  uint64_t whole;
  uint8_t bytes[8];
};

bool flag;
int8_t i8;
uint16_t u16;
int32_t i32;
uint64_t u64;
float f32;
double f64;
long double f80;
__int128 wide;
float2 pair = {1, 2};
int4 quad = {1, 2, 3, 4};
char4 letters = {1, -2, 3, -4};
void* pointer;
volatile int loud;
struct Packed packed;
struct Bits bits;
union Words words;
int table[100];

__attribute__((noinline)) void step(int n) {
  flag = !flag;
  i8 = (int8_t)(i8 * 3 + n);
  u16 = (uint16_t)(u16 * 7 + n);
  i32 = i32 * 11 - n;
  u64 = u64 * 13 + (uint64_t)n;
  f32 = f32 * 0.5f + (float)n;
  f64 = f64 * 0.25 + n;
  f80 = f80 * 0.125L + n;
  wide = wide * 17 + n;
  pair = pair * pair[1] / 4 + (float)n;
  quad = quad * quad[2] + n;
  letters = letters + (signed char)n;
  pointer = pointer == &table[n] ? (void*)&f64 : (void*)&table[n];
  loud = loud + 1;
  packed.odd += n;
  packed.far_off += packed.odd;
  packed.lead ^= 5;
  bits.a += n;
  bits.b += n * 31;
  bits.c -= n;
  bits.d = !bits.d;
  words.whole = words.whole * 31 + (uint64_t)n;
  words.bytes[n % 8] ^= 0x5a;
  table[n % 100] += table[(n * 7) % 100] + n;
}

int main(void) {
  for (int n = 0; n < 250; ++n) step(n % 91);
  long sum = 0;
  for (int i = 0; i < 100; ++i) sum = sum * 3 + table[i];
  printf("%d %d %u %d %lu\n", flag, i8, u16, i32, u64);
  printf("%a %a %La %lx%lx\n", f32, f64, f80, (unsigned long)(wide >> 64), (unsigned long)wide);
  printf("%a %a %d %d %d %d\n", pair[0], pair[1], quad[0], quad[1], quad[2], quad[3]);
  printf("%d %d %d %d\n", letters[0], letters[1], letters[2], letters[3]);
  printf("%ld %d\n", (long)((char*)pointer == (char*)&f64), loud);
  printf("%d %a %d\n", packed.odd, packed.far_off, packed.lead);
  printf("%u %u %d %d %lx %ld\n", bits.a, bits.b, bits.c, bits.d, words.whole, sum);
  return bits.a;
}
