// SPDX-License-Identifier: Apache-2.0
// HOOKS: __heddle_range_read __heddle_range_write
//
// Vectors: whole, with some lanes switched off next to memory that is not there, gathered and
// scattered. Where the processor has no such instructions, nothing is done.
#include <immintrin.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int table[64];
int copy[64];

__attribute__((target("avx2"))) static void masked(int* end) {
  // The last five of the eight lanes lie behind the end of the mapping.
  const __m256i three = _mm256_setr_epi32(-1, -1, -1, 0, 0, 0, 0, 0);
  const __m256i values = _mm256_maskload_epi32(end - 3, three);
  _mm256_maskstore_epi32(end - 3, three, _mm256_add_epi32(values, _mm256_set1_epi32(100)));
  const __m256i index = _mm256_setr_epi32(0, 7, 14, 21, 28, 35, 42, 49);
  const __m256i gathered = _mm256_i32gather_epi32(table, index, 4);
  int lanes[8];
  _mm256_storeu_si256((__m256i*)lanes, gathered);
  for (int i = 0; i < 8; ++i) table[i] += lanes[i];
}

int main(void) {
  char* page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page + 4096, 4096);
  int* end = (int*)(page + 4096);
  for (int i = 0; i < 64; ++i) table[i] = i * i;
  for (int i = 1; i <= 3; ++i) end[-i] = i;
  memcpy(copy, table, sizeof copy);
  if (__builtin_cpu_supports("avx2")) masked(end);
  long sum = 0;
  for (int i = 0; i < 64; ++i) sum = sum * 3 + table[i] + copy[63 - i];
  printf("%ld %d %d %d\n", sum, end[-1], end[-2], end[-3]);
  return 0;
}
