// SPDX-License-Identifier: Apache-2.0
// Linked lists: loops without any counter.
#include <stdio.h>
#include <stdlib.h>
struct node {
  struct node* next;
  long value;
};
int main(void) {
  struct node* list = 0;
  for (long i = 0; i < 20000; ++i) {
    struct node* node = malloc(sizeof *node);
    node->next = list, node->value = i * 7919 % 10007, list = node;
  }
  long sum = 0;
  for (int round = 0; round < 2500; ++round)
    for (struct node* n = list; n; n = n->next) sum += n->value ^ round;
  printf("%ld\n", sum);
}
