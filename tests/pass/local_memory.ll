; SPDX-License-Identifier: Apache-2.0
; Memory no other thread can reach, and memory nobody writes, is not hooked; numbers are given to
; its accesses all the same.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@constant = constant i32 7
@variable = global i32 7
@private_tls = internal thread_local global i32 0
@leaked_tls = internal thread_local global i32 0
@public_tls = thread_local global i32 0

declare void @keep(ptr)
declare ptr @llvm.threadlocal.address.p0(ptr)

; CHECK-LABEL: define i32 @not_escaping
; CHECK: store i32 1, ptr %l
; CHECK-NEXT: load i32, ptr %l
; CHECK-NOT: call {{.*}}@__heddle
; CHECK: ret i32
define i32 @not_escaping() {
  %l = alloca i32
  store i32 1, ptr %l
  %v = load i32, ptr %l
  ret i32 %v
}

; CHECK-LABEL: define i32 @escaping
; CHECK: call preserve_mostcc void @__heddle_store4(ptr %l, i32 1, i32 18)
; CHECK: call void @keep(ptr %l)
; CHECK: call preserve_mostcc i32 @__heddle_load4(ptr %l, i32 20)
define i32 @escaping() {
  %l = alloca i32
  store i32 1, ptr %l
  call void @keep(ptr %l)
  %v = load i32, ptr %l
  ret i32 %v
}

; CHECK-LABEL: define i32 @either
; CHECK: call preserve_mostcc void @__heddle_store4(ptr %p, i32 1, i32 21)
define i32 @either(i1 %c, ptr %other) {
  %l = alloca i32
  %p = select i1 %c, ptr %l, ptr %other
  store i32 1, ptr %p
  ret i32 0
}

; CHECK-LABEL: define i32 @globals
; CHECK-NEXT: load i32, ptr @constant
; CHECK-NEXT: call preserve_mostcc i32 @__heddle_load4(ptr @variable, i32 23)
define i32 @globals() {
  %a = load i32, ptr @constant
  %b = load i32, ptr @variable
  %s = add i32 %a, %b
  ret i32 %s
}

; CHECK-LABEL: define i32 @thread_locals
; CHECK: load i32, ptr %a
; CHECK: call preserve_mostcc i32 @__heddle_load4(ptr %b, i32 25)
; CHECK: call preserve_mostcc i32 @__heddle_load4(ptr %c, i32 27)
define i32 @thread_locals() {
  %a = call ptr @llvm.threadlocal.address.p0(ptr @private_tls)
  %av = load i32, ptr %a
  %b = call ptr @llvm.threadlocal.address.p0(ptr @leaked_tls)
  %bv = load i32, ptr %b
  call void @keep(ptr %b)
  %c = call ptr @llvm.threadlocal.address.p0(ptr @public_tls)
  %cv = load i32, ptr %c
  ret i32 %cv
}

; CHECK-LABEL: define i32 @by_value
; CHECK-NEXT: load i32, ptr %argument
define i32 @by_value(ptr byval(i32) %argument) {
  %v = load i32, ptr %argument
  ret i32 %v
}

; Filled by another function, which fills nothing else: still nobody else's.
; CHECK-LABEL: define internal void @fill
; CHECK-NEXT: store i32 1, ptr %p
define internal void @fill(ptr %p) {
  store i32 1, ptr %p
  ret void
}

; CHECK-LABEL: define i32 @passed_on
; CHECK: load i32, ptr %l
define i32 @passed_on() {
  %l = alloca [4 x i32]
  %second = getelementptr i32, ptr %l, i64 1
  call void @fill(ptr %second)
  %v = load i32, ptr %l
  ret i32 %v
}

; A function that is also given shared memory hooks; so must whoever else accesses what it was given.
; CHECK-LABEL: define internal void @fill_both
; CHECK-NEXT: call preserve_mostcc void @__heddle_store4(ptr %p
define internal void @fill_both(ptr %p) {
  store i32 1, ptr %p
  ret void
}

; CHECK-LABEL: define i32 @mixed
; CHECK: call preserve_mostcc i32 @__heddle_load4(ptr %l
define i32 @mixed() {
  %l = alloca i32
  call void @fill_both(ptr %l)
  call void @fill_both(ptr @variable)
  %v = load i32, ptr %l
  ret i32 %v
}

declare i32 @memcmp(ptr nocapture readonly, ptr nocapture readonly, i64)
declare void @look(ptr nocapture)

; The C library keeps nothing it is not known to keep; of other code that is not believed (it may
; show the pointer to a thread that it starts and joins).
; CHECK-LABEL: define i32 @shown_outside
; CHECK: load i32, ptr %l
; CHECK: call preserve_mostcc i32 @__heddle_load4(ptr %m
define i32 @shown_outside() {
  %l = alloca i32
  %m = alloca i32
  %c = call i32 @memcmp(ptr %l, ptr %l, i64 4)
  call void @look(ptr %m)
  %v = load i32, ptr %l
  %w = load i32, ptr %m
  ret i32 %v
}

declare noalias ptr @malloc(i64)
declare void @free(ptr)
@kept = internal global ptr null
@table = internal global [2 x i32] [i32 1, i32 2]
@counters = internal global [2 x i32] [i32 1, i32 2]
@shown = internal global ptr @table

; CHECK-LABEL: define i32 @heap
; CHECK: store i32 1, ptr %own
; CHECK: call preserve_mostcc void @__heddle_store4(ptr %other
; CHECK: load i32, ptr %own
define i32 @heap() {
  %own = call ptr @malloc(i64 4)
  store i32 1, ptr %own
  %other = call ptr @malloc(i64 4)
  store i32 1, ptr %other
  store ptr %other, ptr @kept
  %v = load i32, ptr %own
  call void @free(ptr %own)
  ret i32 %v
}

; Reached through a list that starts in a local variable: local; through a shared one: shared.
; CHECK-LABEL: define i32 @lists
; CHECK: store ptr %node, ptr %head
; CHECK: %again = load ptr, ptr %head
; CHECK-NEXT: load i32, ptr %again
; CHECK: call preserve_mostcc i64 @__heddle_load8(ptr @kept
; CHECK: call preserve_mostcc i32 @__heddle_load4
define i32 @lists() {
  %head = alloca ptr
  %node = call ptr @malloc(i64 8)
  store ptr %node, ptr %head
  %again = load ptr, ptr %head
  %v = load i32, ptr %again
  %global = load ptr, ptr @kept
  %w = load i32, ptr %global
  ret i32 %v
}

; CHECK-LABEL: define i32 @never_written
; CHECK: load i32, ptr @table
; CHECK: load ptr, ptr @shown
; CHECK-NEXT: load i32, ptr %table
; CHECK: call preserve_mostcc i32 @__heddle_load4(ptr @counters
define i32 @never_written() {
  %a = load i32, ptr @table
  %table = load ptr, ptr @shown
  %b = load i32, ptr %table
  %c = load i32, ptr @counters
  store i32 %c, ptr @counters
  ret i32 %a
}

; Byte by byte is still a copy of a pointer.
; CHECK-LABEL: define void @by_bytes
; CHECK: call preserve_mostcc zeroext i8 @__heddle_load1
; CHECK: call preserve_mostcc void @__heddle_store4
define void @by_bytes() {
  %secret = alloca i32
  %box = alloca ptr
  store ptr %secret, ptr %box
  %byte = load i8, ptr %box
  %at = ptrtoint ptr @kept to i64
  %to = inttoptr i64 %at to ptr
  %old = load i8, ptr %to
  store i8 %byte, ptr %to
  store i32 1, ptr %secret
  ret void
}

%object = type { ptr }
; CHECK-LABEL: define ptr @virtual
; CHECK: call preserve_mostcc i64 @__heddle_load8(ptr %o
; CHECK: load ptr, ptr %slot
define ptr @virtual(ptr %o) {
  %vtable = load ptr, ptr %o, !tbaa !0
  %slot = getelementptr ptr, ptr %vtable, i64 1
  %f = load ptr, ptr %slot
  ret ptr %f
}
!0 = !{!1, !1, i64 0}
!1 = !{!"vtable pointer", !2, i64 0}
!2 = !{!"Simple C++ TBAA"}
