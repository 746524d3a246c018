// SPDX-License-Identifier: Apache-2.0
// Words of a text: while loops over characters, a hash table with chains.
#include <stdio.h>
#include <string.h>
static char text[1 << 20];
static struct entry {
  char word[16];
  int count, next;
} entries[8192];
static int heads[1024], used;
int main(void) {
  unsigned x = 1;
  for (char* p = text; p < text + sizeof text - 8;) {
    x = x * 1664525 + 1013904223;
    for (unsigned n = 2 + (x >> 28) % 3; n; --n) *p++ = 'a' + (x >> (n * 5)) % 6;
    *p++ = ' ';
  }
  for (int round = 0; round < 20; ++round) {
    const char* p = text;
    while (*p) {
      while (*p == ' ') ++p;
      char word[16] = "";
      unsigned hash = 5381, n = 0;
      while (*p && *p != ' ') {
        hash = hash * 33 ^ (unsigned char)*p;
        if (n < 15) word[n++] = *p;
        ++p;
      }
      int e = heads[hash % 1024];
      while (e && strcmp(entries[e].word, word)) e = entries[e].next;
      if (!e && used < 8190) {
        e = ++used;
        memcpy(entries[e].word, word, 16);
        entries[e].next = heads[hash % 1024];
        heads[hash % 1024] = e;
      }
      ++entries[e].count;
    }
  }
  printf("%d %d\n", used, entries[1].count);
}
