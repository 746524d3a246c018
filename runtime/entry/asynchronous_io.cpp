// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous I/O is done by threads that libc makes for itself and nobody controls: a program
// that asks for it is told so.
#include <aio.h>
#include <dlfcn.h>

#include "runtime/entry/entry.h"

using namespace heddle::runtime;

namespace {

template <typename Function>
Function refuse_or_find(Function, const char* name) {
  const Gate gate;
  if (gate) session().unsupported("asynchronous I/O (aio_read and its kin)");
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define REFUSED(name, parameters, ...)                  \
  HEDDLE_ENTRY int name parameters noexcept {           \
    return refuse_or_find(&::name, #name)(__VA_ARGS__); \
  }
REFUSED(aio_read, (aiocb * request), request)
REFUSED(aio_read64, (aiocb64 * request), request)
REFUSED(aio_write, (aiocb * request), request)
REFUSED(aio_write64, (aiocb64 * request), request)
REFUSED(aio_fsync, (int operation, aiocb* request), operation, request)
REFUSED(aio_fsync64, (int operation, aiocb64* request), operation, request)
REFUSED(lio_listio, (int mode, aiocb* const* requests, int count, sigevent* event), mode, requests,
        count, event)
REFUSED(lio_listio64, (int mode, aiocb64* const* requests, int count, sigevent* event), mode,
        requests, count, event)
