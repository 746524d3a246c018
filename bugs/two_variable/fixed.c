// SPDX-License-Identifier: Apache-2.0
//
// Two related variables, fixed: the title and its length change in one critical section.

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct document {
  pthread_mutex_t lock;
  const char* title;
  size_t length;  // always strlen(title)
};

static void rename_document(struct document* doc, const char* title) {
  pthread_mutex_lock(&doc->lock);
  doc->title = title;
  doc->length = strlen(title);
  pthread_mutex_unlock(&doc->lock);
}

static void* display(void* arg) {
  struct document* doc = arg;
  pthread_mutex_lock(&doc->lock);
  const char* title = doc->title;
  size_t length = doc->length;
  pthread_mutex_unlock(&doc->lock);
  assert(strlen(title) == length);
  return NULL;
}

int main(void) {
  struct document* doc = malloc(sizeof *doc);
  if (doc == NULL) return 1;
  pthread_mutex_init(&doc->lock, NULL);
  doc->title = "draft";
  doc->length = strlen("draft");

  pthread_t reader;
  pthread_create(&reader, NULL, display, doc);
  rename_document(doc, "final version");
  pthread_join(reader, NULL);

  pthread_mutex_destroy(&doc->lock);
  free(doc);
  return 0;
}
