; SPDX-License-Identifier: Apache-2.0
; The engine of heddle/breakpoint.h is no part of the program: it has no hooks, and a call of it is
; a call out of the program.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%struct.heddle_bp_arrival = type { ptr, i32 }

@heddle_bp_state = global i32 2
@shared = global i32 0

; CHECK-LABEL: define i32 @heddle_bp_arrive
; CHECK: store i32 1, ptr @shared
; CHECK-NOT: call {{.*}}@__heddle
; CHECK: ret i32
define i32 @heddle_bp_arrive(ptr %arrival) {
  store i32 1, ptr @shared
  ret i32 0
}

; CHECK-LABEL: define void @program
; CHECK: %state = load i32, ptr @heddle_bp_state
; CHECK: store i32 3, ptr %side
; CHECK: store i32 {{[0-9]+}}, ptr @__heddle_call_site
; CHECK-NEXT: call i32 @heddle_bp_arrive
; CHECK: call preserve_mostcc void @__heddle_store4(ptr @shared, i32 2,
define void @program() {
  %arrival = alloca %struct.heddle_bp_arrival
  %state = load i32, ptr @heddle_bp_state
  %side = getelementptr inbounds %struct.heddle_bp_arrival, ptr %arrival, i32 0, i32 1
  store i32 3, ptr %side
  %hit = call i32 @heddle_bp_arrive(ptr %arrival)
  store i32 2, ptr @shared
  ret void
}
