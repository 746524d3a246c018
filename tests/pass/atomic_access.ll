; SPDX-License-Identifier: Apache-2.0
; Atomics go through hooks with their memory order in C's numbers.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i32 @load_acquire
; CHECK-NEXT: call i32 @__heddle_atomic_load4(ptr %p, i32 2, i32 16)
define i32 @load_acquire(ptr %p) {
  %v = load atomic i32, ptr %p acquire, align 4
  ret i32 %v
}

; CHECK-LABEL: define ptr @load_relaxed_pointer
; CHECK-NEXT: %[[B:.*]] = call i64 @__heddle_atomic_load8(ptr %p, i32 0, i32 17)
; CHECK-NEXT: inttoptr i64 %[[B]] to ptr
define ptr @load_relaxed_pointer(ptr %p) {
  %v = load atomic ptr, ptr %p monotonic, align 8
  ret ptr %v
}

; CHECK-LABEL: define void @store_release
; CHECK-NEXT: call void @__heddle_atomic_store2(ptr %p, i16 zeroext %v, i32 3, i32 18)
; CHECK-NEXT: ret void
define void @store_release(ptr %p, i16 %v) {
  store atomic i16 %v, ptr %p release, align 2
  ret void
}

; The second-last constant but one is abi::RmwOperation: Add.
; CHECK-LABEL: define i64 @add
; CHECK-NEXT: call i64 @__heddle_atomic_rmw8(ptr %p, i64 %v, i32 1, i32 5, i32 19)
define i64 @add(ptr %p, i64 %v) {
  %old = atomicrmw add ptr %p, i64 %v seq_cst
  ret i64 %old
}

; CHECK-LABEL: define ptr @exchange_pointer
; CHECK-NEXT: %[[B:.*]] = ptrtoint ptr %v to i64
; CHECK-NEXT: %[[O:.*]] = call i64 @__heddle_atomic_rmw8(ptr %p, i64 %[[B]], i32 0, i32 4, i32 20)
; CHECK-NEXT: inttoptr i64 %[[O]] to ptr
define ptr @exchange_pointer(ptr %p, ptr %v) {
  %old = atomicrmw xchg ptr %p, ptr %v acq_rel
  ret ptr %old
}

; CHECK-LABEL: define i8 @unsigned_min
; CHECK-NEXT: call zeroext i8 @__heddle_atomic_rmw1(ptr %p, i8 zeroext %v, i32 10, i32 0, i32 21)
define i8 @unsigned_min(ptr %p, i8 %v) {
  %old = atomicrmw umin ptr %p, i8 %v monotonic
  ret i8 %old
}

; CHECK-LABEL: define { i32, i1 } @compare_exchange
; CHECK-NEXT: %[[F:.*]] = call i32 @__heddle_atomic_cas4(ptr %p, i32 %e, i32 %d, i32 5, i32 2, i32 22)
; CHECK-NEXT: %[[P:.*]] = insertvalue { i32, i1 } poison, i32 %[[F]], 0
; CHECK-NEXT: %[[S:.*]] = icmp eq i32 %[[F]], %e
; CHECK-NEXT: %r = insertvalue { i32, i1 } %[[P]], i1 %[[S]], 1
; CHECK-NEXT: ret { i32, i1 } %r
define { i32, i1 } @compare_exchange(ptr %p, i32 %e, i32 %d) {
  %r = cmpxchg weak ptr %p, i32 %e, i32 %d seq_cst acquire
  ret { i32, i1 } %r
}

; CHECK-LABEL: define i1 @compare_exchange_pointer
; CHECK: %[[F:.*]] = call i64 @__heddle_atomic_cas8(ptr %p, i64 %{{.*}}, i64 %{{.*}}, i32 4, i32 0, i32 23)
; CHECK: inttoptr i64 %[[F]] to ptr
define i1 @compare_exchange_pointer(ptr %p, ptr %e, ptr %d) {
  %r = cmpxchg ptr %p, ptr %e, ptr %d acq_rel monotonic
  %s = extractvalue { ptr, i1 } %r, 1
  ret i1 %s
}

; Operations the runtime has no arithmetic for become a loop of compare-exchanges.
; CHECK-LABEL: define float @float_add
; CHECK: %[[FIRST:.*]] = call i32 @__heddle_atomic_load4(ptr %p, i32 0, i32 24)
; CHECK-NEXT: br label %[[LOOP:.*]]
; CHECK: [[LOOP]]:
; CHECK-NEXT: %[[L:.*]] = phi i32 [ %[[FIRST]], %{{.*}} ], [ %[[F:.*]], %[[LOOP]] ]
; CHECK-NEXT: %old = bitcast i32 %[[L]] to float
; CHECK-NEXT: %[[N:.*]] = fadd float %old, %v
; CHECK-NEXT: %[[B:.*]] = bitcast float %[[N]] to i32
; CHECK-NEXT: %[[F]] = call i32 @__heddle_atomic_cas4(ptr %p, i32 %[[L]], i32 %[[B]], i32 5, i32 5, i32 24)
; CHECK-NEXT: %[[S:.*]] = icmp eq i32 %[[F]], %[[L]]
; CHECK-NEXT: br i1 %[[S]], label %[[AFTER:.*]], label %[[LOOP]]
; CHECK: [[AFTER]]:
; CHECK-NEXT: ret float %old
define float @float_add(ptr %p, float %v) {
  %old = atomicrmw fadd ptr %p, float %v seq_cst
  ret float %old
}

; Wide ones stay, announced as a read and a write.
; CHECK-LABEL: define { i128, i1 } @wide
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_read(ptr %p, i64 16, i32 25)
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_write(ptr %p, i64 16, i32 25)
; CHECK-NEXT: cmpxchg ptr %p
define { i128, i1 } @wide(ptr %p, i128 %e, i128 %d) {
  %r = cmpxchg ptr %p, i128 %e, i128 %d seq_cst seq_cst
  ret { i128, i1 } %r
}

; A fence against signal handlers takes a number but no hook.
; CHECK-LABEL: define void @fences
; CHECK-NEXT: call void @__heddle_fence(i32 5, i32 26)
; CHECK-NEXT: fence syncscope("singlethread") seq_cst
; CHECK-NEXT: call void @__heddle_fence(i32 3, i32 28)
; CHECK-NEXT: ret void
define void @fences() {
  fence seq_cst
  fence syncscope("singlethread") seq_cst
  fence release
  ret void
}

; Fences that are spelled as the processor's instructions order as much; they stay.
; CHECK-LABEL: define void @machine_fences
; CHECK-NEXT: call void @__heddle_fence(i32 5, i32 {{[0-9]+}})
; CHECK-NEXT: call void @llvm.x86.sse2.mfence()
; CHECK-NEXT: call void @__heddle_fence(i32 3, i32 {{[0-9]+}})
; CHECK-NEXT: call void @llvm.x86.sse.sfence()
; CHECK-NEXT: call void @__heddle_fence(i32 2, i32 {{[0-9]+}})
; CHECK-NEXT: call void @llvm.x86.sse2.lfence()
define void @machine_fences() {
  call void @llvm.x86.sse2.mfence()
  call void @llvm.x86.sse.sfence()
  call void @llvm.x86.sse2.lfence()
  ret void
}
declare void @llvm.x86.sse2.mfence()
declare void @llvm.x86.sse.sfence()
declare void @llvm.x86.sse2.lfence()
