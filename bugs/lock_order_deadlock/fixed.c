// SPDX-License-Identifier: Apache-2.0
//
// Lock order deadlock, fixed: every transfer locks the account with the smaller number first.
// Usage: fixed [transfers per thread, default 1]

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct account {
  pthread_mutex_t lock;
  int number;
  int balance;
};

static struct account alice = {PTHREAD_MUTEX_INITIALIZER, 1, 100};
static struct account bob = {PTHREAD_MUTEX_INITIALIZER, 2, 100};
static int rounds = 1;

static void transfer(struct account* from, struct account* to, int amount) {
  struct account* first = from->number < to->number ? from : to;
  struct account* second = first == from ? to : from;
  pthread_mutex_lock(&first->lock);
  pthread_mutex_lock(&second->lock);
  from->balance -= amount;
  to->balance += amount;
  pthread_mutex_unlock(&second->lock);
  pthread_mutex_unlock(&first->lock);
}

static void* alice_pays_bob(void* arg) {
  (void)arg;
  for (int i = 0; i < rounds; ++i) transfer(&alice, &bob, 10);
  return NULL;
}

static void* bob_pays_alice(void* arg) {
  (void)arg;
  for (int i = 0; i < rounds; ++i) transfer(&bob, &alice, 20);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc > 1) rounds = atoi(argv[1]);

  pthread_t other;
  pthread_create(&other, NULL, alice_pays_bob, NULL);
  bob_pays_alice(NULL);
  pthread_join(other, NULL);

  assert(alice.balance == 100 + 10 * rounds);
  assert(bob.balance == 100 - 10 * rounds);
  return 0;
}
