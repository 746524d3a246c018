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
; CHECK: call void @__heddle_store4(ptr %l, i32 1, i32 18)
; CHECK: call void @keep(ptr %l)
; CHECK: call i32 @__heddle_load4(ptr %l, i32 20)
define i32 @escaping() {
  %l = alloca i32
  store i32 1, ptr %l
  call void @keep(ptr %l)
  %v = load i32, ptr %l
  ret i32 %v
}

; CHECK-LABEL: define i32 @either
; CHECK: call void @__heddle_store4(ptr %p, i32 1, i32 21)
define i32 @either(i1 %c, ptr %other) {
  %l = alloca i32
  %p = select i1 %c, ptr %l, ptr %other
  store i32 1, ptr %p
  ret i32 0
}

; CHECK-LABEL: define i32 @globals
; CHECK-NEXT: load i32, ptr @constant
; CHECK-NEXT: call i32 @__heddle_load4(ptr @variable, i32 23)
define i32 @globals() {
  %a = load i32, ptr @constant
  %b = load i32, ptr @variable
  %s = add i32 %a, %b
  ret i32 %s
}

; CHECK-LABEL: define i32 @thread_locals
; CHECK: load i32, ptr %a
; CHECK: call i32 @__heddle_load4(ptr %b, i32 25)
; CHECK: call i32 @__heddle_load4(ptr %c, i32 27)
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

; Not kept, but accessed by other instrumented code: hooked on both sides.
; CHECK-LABEL: define internal void @fill
; CHECK-NEXT: call void @__heddle_store4(ptr %p, i32 1, i32 29)
define internal void @fill(ptr nocapture %p) {
  store i32 1, ptr %p
  ret void
}

; CHECK-LABEL: define i32 @passed_on
; CHECK: call i32 @__heddle_load4(ptr %l, i32 30)
define i32 @passed_on() {
  %l = alloca [4 x i32]
  %second = getelementptr i32, ptr %l, i64 1
  call void @fill(ptr %second)
  %v = load i32, ptr %l
  ret i32 %v
}

declare void @look(ptr nocapture)

; CHECK-LABEL: define i32 @shown_outside
; CHECK: load i32, ptr %l
define i32 @shown_outside() {
  %l = alloca i32
  call void @look(ptr %l)
  %v = load i32, ptr %l
  ret i32 %v
}
