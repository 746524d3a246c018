// SPDX-License-Identifier: Apache-2.0
//
// Threads by birth, as everywhere in Heddle: t0 is main, t0.2.1 the first child of its second
// child. A pinned program counts them as they are created, so that a breakpoint can mean one of
// several threads that run the same code.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/woven.h"

typedef int create_function(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

struct birth {
  char name[HEDDLE_WOVEN_THREAD];
  void* (*routine)(void*);
  void* argument;
};

const char* __heddle_woven_birth(void);

static _Thread_local char own_name[HEDDLE_WOVEN_THREAD] = "t0";
static _Thread_local unsigned children;

const char* __heddle_woven_birth(void) {
  return own_name;
}

static void* begin(void* arg) {
  const struct birth birth = *(struct birth*)arg;
  free(arg);
  memcpy(own_name, birth.name, sizeof own_name);
  return birth.routine(birth.argument);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                   void* argument) {
  create_function* const create = (create_function*)dlsym(RTLD_NEXT, "pthread_create");
  struct birth* const birth = malloc(sizeof *birth);
  if (!birth) return create(thread, attributes, routine, argument);
  // A name that is too long is cut, and then means nobody: traces never cut theirs.
  snprintf(birth->name, sizeof birth->name, "%s.%u", own_name, children + 1);
  birth->routine = routine;
  birth->argument = argument;
  const int result = create(thread, attributes, begin, birth);
  if (result == 0) {
    ++children;
  } else {
    free(birth);
  }
  return result;
}
