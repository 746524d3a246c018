; SPDX-License-Identifier: Apache-2.0
; What threads are told by pthread_create is shared; what POSIX threads merely use is not.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @my_mutex_lock(ptr)
declare noalias ptr @malloc(i64)

define internal ptr @thread(ptr %given) {
  ret ptr %given
}

; The handle stays here, the argument does not, and what the thread returns comes from anywhere.
; CHECK-LABEL: define i32 @creates
; CHECK: call preserve_mostcc void @__heddle_store4(ptr %argument
; CHECK: load i64, ptr %handle
; CHECK: load ptr, ptr %result
; CHECK: call preserve_mostcc i32 @__heddle_load4(ptr %returned
define i32 @creates() {
  %handle = alloca i64
  %argument = alloca i32
  %result = alloca ptr
  store i32 1, ptr %argument
  call i32 @pthread_create(ptr %handle, ptr null, ptr @thread, ptr %argument)
  %joined = load i64, ptr %handle
  call i32 @pthread_join(i64 %joined, ptr %result)
  %returned = load ptr, ptr %result
  %value = load i32, ptr %returned
  ret i32 %value
}

; A lock in memory of the thread's own; what the memory points to stays its own as well.
; CHECK-LABEL: define void @locks
; CHECK: call i32 @pthread_mutex_lock(ptr %own)
; CHECK: load ptr, ptr %own
; CHECK-NEXT: store i32 1, ptr %inner
define void @locks() {
  %own = call ptr @malloc(i64 64)
  %part = call ptr @malloc(i64 64)
  store ptr %part, ptr %own
  call i32 @pthread_mutex_lock(ptr %own)
  %inner = load ptr, ptr %own
  store i32 1, ptr %inner
  ret void
}

; Nothing is known of a function that sounds alike.
; CHECK-LABEL: define void @calls_another
; CHECK: call i32 @my_mutex_lock(ptr %own)
; CHECK: call preserve_mostcc void @__heddle_store4(ptr %own
define void @calls_another() {
  %own = call ptr @malloc(i64 64)
  call i32 @my_mutex_lock(ptr %own)
  store i32 1, ptr %own
  ret void
}
