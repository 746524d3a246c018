// SPDX-License-Identifier: Apache-2.0
// Dense matrix product: counted loops that the compiler vectorises.
#include <stdio.h>
#define N 320
static double a[N][N], b[N][N], c[N][N];
int main(void) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) a[i][j] = i - j, b[i][j] = i + j;
  for (int round = 0; round < 6; ++round)
    for (int i = 0; i < N; ++i)
      for (int k = 0; k < N; ++k)
        for (int j = 0; j < N; ++j) c[i][j] += a[i][k] * b[k][j];
  printf("%f\n", c[N / 2][N / 3]);
}
