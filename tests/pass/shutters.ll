; SPDX-License-Identifier: Apache-2.0
; A plain access calls its hook while its shutter is open, and happens by itself while it is closed.
; Those of a stretch are asked for together. Atomics are always seen.
; VARIANT: full
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; Behind the last: the byte that fronts have, and what a word may hold that begins at a site.
; CHECK: @heddle.shutters = internal global [28 x i8] zeroinitializer
; CHECK: @llvm.global_ctors = {{.*}} i32 0, ptr @heddle.show_shutters
; CHECK: @heddle.shutter_0 = internal constant ptr getelementptr (i8, ptr @heddle.shutters, i64 -16)

; CHECK-LABEL: define double @load
; CHECK: %[[S:.*]] = load i8, ptr @heddle.shutters, align 1
; CHECK-NEXT: %[[C:.*]] = icmp eq i8 %[[S]], 1
; CHECK-NEXT: br i1 %[[C]], label %[[CLOSED:.*]], label %[[OPEN:.*]], !prof
; CHECK: [[OPEN]]:
; CHECK-NEXT: %[[B:.*]] = call preserve_mostcc i64 @heddle.front_load8(ptr %p, i32 16)
; CHECK-NEXT: %[[HOOKED:.*]] = bitcast i64 %[[B]] to double
; CHECK-NEXT: br label %[[TAIL:.*]]
; CHECK: [[CLOSED]]:
; CHECK-NEXT: %[[OWN:.*]] = load volatile double, ptr %p
; CHECK-NEXT: br label %[[TAIL]]
; CHECK: [[TAIL]]:
; CHECK-NEXT: %v = phi double [ %[[HOOKED]], %[[OPEN]] ], [ %[[OWN]], %[[CLOSED]] ]
; CHECK-NEXT: ret double %v
define double @load(ptr %p) {
  %v = load volatile double, ptr %p
  ret double %v
}

; CHECK-LABEL: define void @store
; CHECK: load i8, ptr getelementptr inbounds ([28 x i8], ptr @heddle.shutters, i64 0, i64 1)
; CHECK: call preserve_mostcc void @heddle.front_store4(ptr %p, i32 %v, i32 17)
; CHECK: store i32 %v, ptr %p
; CHECK-NOT: store i32 %v
; CHECK: ret void
define void @store(ptr %p, i32 %v) {
  store i32 %v, ptr %p
  ret void
}

; Where only one of a copy's two is closed, the fronts tell which.
; CHECK-LABEL: define void @copy
; CHECK: load i16, ptr getelementptr inbounds ([28 x i8], ptr @heddle.shutters, i64 0, i64 2)
; CHECK-NEXT: icmp eq i16 %{{.*}}, 257
; CHECK: call preserve_mostcc void @heddle.front_range_read(ptr %s, i64 %n, i32 18)
; CHECK: call preserve_mostcc void @heddle.front_range_write(ptr %d, i64 %n, i32 19)
; CHECK-NEXT: call void @llvm.memcpy
; CHECK: call void @llvm.memcpy
; CHECK: ret void
define void @copy(ptr %d, ptr %s, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)
  ret void
}

; A loop in which one round uses what the one before has read; the local access has no shutter of its
; own (site 21), and what is behind the call belongs to another stretch.
; CHECK-LABEL: define i32 @stretch
; CHECK: round:
; CHECK-NEXT: %sum = phi i32 [ 0, %entry ], [ %next, %[[SECOND_TAIL:.*]] ]
; CHECK-NEXT: %[[S:.*]] = load i32, ptr getelementptr inbounds ([28 x i8], ptr @heddle.shutters, i64 0, i64 4), align 1
; CHECK-NEXT: %[[M:.*]] = and i32 %[[S]], 65537
; CHECK-NEXT: %[[C:.*]] = icmp eq i32 %[[M]], 65537
; CHECK-NEXT: br i1 %[[C]], label %[[CLOSED:.*]], label %[[OPEN:.*]], !prof
; CHECK: [[OPEN]]:
; CHECK-NEXT: %[[A:.*]] = call preserve_mostcc i32 @heddle.front_load4(ptr %p, i32 20)
; CHECK-NEXT: store i32 %[[A]], ptr %local
; CHECK-NEXT: %[[NEXT:.*]] = add i32 %[[A]], %sum
; CHECK-NEXT: call preserve_mostcc void @heddle.front_store4(ptr %p, i32 %[[NEXT]], i32 22)
; CHECK: [[CLOSED]]:
; CHECK-NEXT: %[[OWN:.*]] = load i32, ptr %p
; CHECK-NEXT: store i32 %[[OWN]], ptr %local
; CHECK-NEXT: %[[OWN_NEXT:.*]] = add i32 %[[OWN]], %sum
; CHECK-NEXT: store i32 %[[OWN_NEXT]], ptr %p
; CHECK: %next = phi i32 [ %[[NEXT]], %[[OPEN]] ], [ %[[OWN_NEXT]], %[[CLOSED]] ]
; CHECK: call void @outside()
; CHECK-NEXT: load i8, ptr getelementptr inbounds ([28 x i8], ptr @heddle.shutters, i64 0, i64 8)
define i32 @stretch(ptr %p, i1 %again) {
entry:
  %local = alloca i32
  br label %round
round:
  %sum = phi i32 [ 0, %entry ], [ %next, %round ]
  %v = load i32, ptr %p
  store i32 %v, ptr %local
  %next = add i32 %v, %sum
  store i32 %next, ptr %p
  call void @outside()
  store i32 1, ptr %p
  br i1 %again, label %round, label %end
end:
  ret i32 %next
}

; Seven accesses and a copy, whose two sites do not come apart: it is a stretch of its own.
; CHECK-LABEL: define void @full_word
; CHECK: load i64, ptr getelementptr inbounds ([28 x i8], ptr @heddle.shutters, i64 0, i64 9)
; CHECK-NEXT: and i64 %{{.*}}, 282578800148737
; CHECK: store i8 7, ptr %d
; CHECK: load i16, ptr getelementptr inbounds ([28 x i8], ptr @heddle.shutters, i64 0, i64 16)
; CHECK: ret void
define void @full_word(ptr %d, ptr %s, i64 %n) {
  store i8 1, ptr %d
  store i8 2, ptr %d
  store i8 3, ptr %d
  store i8 4, ptr %d
  store i8 5, ptr %d
  store i8 6, ptr %d
  store i8 7, ptr %d
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: define i32 @atomic
; CHECK-NEXT: call i32 @__heddle_atomic_load4(ptr %p, i32 2, i32 34)
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
; CHECK-NEXT: call void @__heddle_shutters(ptr @heddle.shutters, i64 20, i32 16)

; What is called is near and goes on to the runtime, unless the byte behind the last says not to, or the
; site's own.
; CHECK-LABEL: define internal preserve_mostcc i64 @heddle.front_load8(ptr %0, i32 %1)
; CHECK-NEXT: call void asm sideeffect {{.*}}movq (%rdi), %rax{{.*}}movl %esi, %r11d{{.*}}jne 1b{{.*}}jmpq *__heddle_load8@GOTPCREL
; CHECK-SAME: (ptr getelementptr (i8, ptr @heddle.shutters, i64 20), ptr @heddle.shutter_0)

declare void @outside()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
