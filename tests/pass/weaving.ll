; SPDX-License-Identifier: Apache-2.0
; VARIANT: pinned
; Woven breakpoints: before and behind an access; inside a wait, with the mutex it gives back; behind a
; call that may throw, and nowhere else where control comes from elsewhere, too.
; WEAVING: before 16 0
; WEAVING: after 16 1
; WEAVING: woken 17 2
; WEAVING: woken 18 3
; WEAVING: after 18 4
; WEAVING: function 33 5
; WEAVING: takes 19 6
; WEAVING: gives 20 0
; WEAVING: plan
; WEAVING: breakpoint 2 200 0 1 20 one
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@shared = global i32 0
@condition = global [48 x i8] zeroinitializer
@mutex = global [40 x i8] zeroinitializer

declare i32 @pthread_cond_wait(ptr, ptr)
declare void @_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(ptr, ptr)
declare i32 @__gxx_personality_v0(...)
declare i32 @pthread_mutex_trylock(ptr)
declare i32 @pthread_mutex_unlock(ptr)

; CHECK-LABEL: define void @access
; CHECK: call void @__heddle_woven_at(i32 0, ptr @shared)
; CHECK-NEXT: store i32 1, ptr @shared
; CHECK-NEXT: call void @__heddle_woven_at(i32 1, ptr null)
define void @access() {
  store i32 1, ptr @shared
  ret void
}

; CHECK-LABEL: define void @wait
; CHECK: call i32 @pthread_cond_wait(ptr @condition, ptr @mutex)
; CHECK-NEXT: call void @__heddle_woven_woken(i32 2, ptr @mutex)
define void @wait() {
  %ignored = call i32 @pthread_cond_wait(ptr @condition, ptr @mutex)
  ret void
}

; CHECK-LABEL: define void @wait_in_loop
; CHECK: loop:
; CHECK-NOT: @__heddle_woven
; CHECK: invoke void @_ZNSt18condition_variable4wait{{.*}}(ptr @condition, ptr %lock)
; CHECK-NEXT: to label %[[BEHIND:.*]] unwind
; CHECK: [[BEHIND]]:
; CHECK-DAG: [[MUTEX:%.*]] = load ptr, ptr %lock
; CHECK-DAG: call void @__heddle_woven_woken(i32 3, ptr [[MUTEX]])
; CHECK-DAG: call void @__heddle_woven_at(i32 4, ptr null)
; CHECK: br label %loop
define void @wait_in_loop(ptr %lock, i1 %more) personality ptr @__gxx_personality_v0 {
entry:
  br label %loop
loop:
  br i1 %more, label %body, label %done
body:
  invoke void @_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(ptr @condition, ptr %lock)
      to label %loop unwind label %lost
done:
  ret void
lost:
  %pad = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %pad
}

; A calling context begins and ends with the function; a lock is taken only if the call says so.
; CHECK-LABEL: define i32 @section
; CHECK: call void @__heddle_woven_enter(i32 5, ptr null)
; CHECK-NEXT: [[RESULT:%.*]] = call i32 @pthread_mutex_trylock(ptr @mutex)
; CHECK-NEXT: [[TAKEN:%.*]] = icmp eq i32 [[RESULT]], 0
; CHECK-NEXT: [[LOCK:%.*]] = select i1 [[TAKEN]], ptr @mutex, ptr null
; CHECK-NEXT: call void @__heddle_woven_take(i32 6, ptr [[LOCK]])
; CHECK-NEXT: call void @__heddle_woven_give(i32 0, ptr @mutex)
; CHECK-NEXT: call i32 @pthread_mutex_unlock(ptr @mutex)
; CHECK-NEXT: call void @__heddle_woven_leave(i32 5, ptr null)
; CHECK-NEXT: ret i32 %result
define i32 @section() {
  %result = call i32 @pthread_mutex_trylock(ptr @mutex)
  %ignored = call i32 @pthread_mutex_unlock(ptr @mutex)
  ret i32 %result
}
