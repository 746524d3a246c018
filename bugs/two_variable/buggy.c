// SPDX-License-Identifier: Apache-2.0
//
// Two related variables. A document keeps its title and the title's length. The lock protects each
// of them, so there is no data race; but the editor changes them in two critical sections, and a
// reader that comes in between sees the new title with the old length.
// Origin: shape of Mozilla's text buffer and length pairs, updated in separate steps.

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

static void set_title(struct document* doc, const char* title) {
  pthread_mutex_lock(&doc->lock);
  doc->title = title;  // heddle: culprit write-title
  pthread_mutex_unlock(&doc->lock);
}

static void set_length(struct document* doc, size_t length) {
  pthread_mutex_lock(&doc->lock);
  doc->length = length;  // heddle: culprit write-length
  pthread_mutex_unlock(&doc->lock);
}

static void rename_document(struct document* doc, const char* title) {
  set_title(doc, title);
  set_length(doc, strlen(title));
}

static void* display(void* arg) {
  struct document* doc = arg;
  pthread_mutex_lock(&doc->lock);
  const char* title = doc->title;  // heddle: culprit read-title
  size_t length = doc->length;     // heddle: culprit read-length
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
