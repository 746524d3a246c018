#include <assert.h>
#include <pthread.h>

static int counter;

static void* worker(void* argument) {
  (void)argument;
  int seen = counter;
  counter = seen + 1;
  return NULL;
}

int main(void) {
  pthread_t first, second;
  pthread_create(&first, NULL, worker, NULL);
  pthread_create(&second, NULL, worker, NULL);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  assert(counter == 2);
  return 0;
}
