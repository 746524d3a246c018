// SPDX-License-Identifier: Apache-2.0
// EXPECT: unsupported
#include <aio.h>

int main(void) {
  char byte;
  struct aiocb request = {.aio_fildes = 0, .aio_buf = &byte, .aio_nbytes = 1};
  return aio_read(&request);
}
