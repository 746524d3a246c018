; SPDX-License-Identifier: Apache-2.0
; A plain access calls its hook while its shutter is open, and happens by itself while it is closed.
; Atomics are always seen.
; VARIANT: full
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK: @heddle.shutters = internal global [7 x i8] zeroinitializer
; CHECK: @llvm.global_ctors = {{.*}} i32 0, ptr @heddle.show_shutters

; CHECK-LABEL: define double @load
; CHECK: %[[S:.*]] = load i8, ptr @heddle.shutters, align 1
; CHECK-NEXT: %[[C:.*]] = icmp ne i8 %[[S]], 0
; CHECK-NEXT: br i1 %[[C]], label %[[CLOSED:.*]], label %[[OPEN:[0-9]+]], !prof
; CHECK: [[CLOSED]]:
; CHECK-NEXT: %[[OWN:.*]] = load volatile double, ptr %p
; CHECK-NEXT: br label %[[TAIL:.*]]
; CHECK: [[OPEN]]:
; CHECK-NEXT: %[[B:.*]] = call preserve_mostcc i64 @heddle.front_load8(ptr %p, i32 16)
; CHECK-NEXT: %[[HOOKED:.*]] = bitcast i64 %[[B]] to double
; CHECK: [[TAIL]]:
; CHECK-NEXT: %v = phi double [ %[[HOOKED]], %[[OPEN]] ], [ %[[OWN]], %[[CLOSED]] ]
; CHECK-NEXT: ret double %v
define double @load(ptr %p) {
  %v = load volatile double, ptr %p
  ret double %v
}

; CHECK-LABEL: define void @store
; CHECK: load i8, ptr getelementptr inbounds ([7 x i8], ptr @heddle.shutters, i64 0, i64 1)
; CHECK: store i32 %v, ptr %p
; CHECK: call preserve_mostcc void @heddle.front_store4(ptr %p, i32 %v, i32 17)
; CHECK-NOT: store i32 %v
; CHECK: ret void
define void @store(ptr %p, i32 %v) {
  store i32 %v, ptr %p
  ret void
}

; The two of a copy are closed one by one; the copy itself is always done.
; CHECK-LABEL: define void @copy
; CHECK: i64 2)
; CHECK: call preserve_mostcc void @heddle.front_range_read(ptr %s, i64 %n, i32 18)
; CHECK: i64 3)
; CHECK: call preserve_mostcc void @heddle.front_range_write(ptr %d, i64 %n, i32 19)
; CHECK: call void @llvm.memcpy
; CHECK-NEXT: ret void
define void @copy(ptr %d, ptr %s, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: define i32 @atomic
; CHECK-NEXT: call i32 @__heddle_atomic_load4(ptr %p, i32 2, i32 20)
define i32 @atomic(ptr %p) {
  %v = load atomic i32, ptr %p acquire, align 4
  ret i32 %v
}

; What is not hooked has no shutter, only a byte for its number.
; CHECK-LABEL: define i32 @local
; CHECK-NOT: heddle.shutters
; CHECK: ret i32
define i32 @local(i32 %n) {
  %a = alloca [4 x i32]
  %p = getelementptr i32, ptr %a, i32 %n
  %v = load i32, ptr %p
  ret i32 %v
}

; CHECK-LABEL: define internal void @heddle.show_shutters
; CHECK-NEXT: call void @__heddle_shutters(ptr @heddle.shutters, i64 6, i32 16)

; What is called is near and goes on to the runtime, unless the byte behind the last says not to.
; CHECK-LABEL: define internal preserve_mostcc i64 @heddle.front_load8(ptr %0, i32 %1)
; CHECK-NEXT: call void asm sideeffect {{.*}}movq (%rdi), %rax{{.*}}jmpq *__heddle_load8@GOTPCREL
; CHECK-SAME: (ptr getelementptr inbounds ([7 x i8], ptr @heddle.shutters, i64 0, i64 6))

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
