// SPDX-License-Identifier: Apache-2.0
//
// Lock order deadlock. A transfer locks the account it takes from, then the account it gives to.
// Two transfers in opposite directions at once: each holds the lock that the other one wants.
// Origin: the textbook bank transfer; the same shape deadlocked MySQL, SQLite and the JDK's
// collections (a.addAll(b) against b.addAll(a)).
// Usage: buggy [transfers per thread, default 1]

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct account {
  pthread_mutex_t lock;
  int balance;
};

static struct account alice = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account bob = {PTHREAD_MUTEX_INITIALIZER, 100};
static int rounds = 1;

static void transfer(struct account* from, struct account* to, int amount) {
  pthread_mutex_lock(&from->lock);  // heddle: culprit acquire-1
  pthread_mutex_lock(&to->lock);    // heddle: culprit acquire-2
  from->balance -= amount;
  to->balance += amount;
  pthread_mutex_unlock(&to->lock);
  pthread_mutex_unlock(&from->lock);
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
