#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static int mail;

static void* reader(void* argument) {
  pthread_mutex_lock(&lock);
  int seen = mail;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  if (!seen) pthread_cond_wait(&arrived, &lock);
  pthread_mutex_unlock(&lock);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, reader, NULL);
  pthread_mutex_lock(&lock);
  mail = 1;
  pthread_cond_signal(&arrived);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  return 0;
}
