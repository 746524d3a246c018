; SPDX-License-Identifier: Apache-2.0
; VARIANT: full+loops+calls+blocks+branches
; Steps: their sites come behind all accesses and calls (16 to 20), function by function: the function,
; its loops, its blocks, each with its branch. Control flow stays as it is.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@g = global i32 0

declare void @outside()
declare void @quiet() nounwind

; CHECK-LABEL: define void @nested
; CHECK-NEXT: entry:
; CHECK-NEXT: [[FRAME:%.*]] = alloca i8
; CHECK-NEXT: call void @__heddle_call_enter(ptr nocapture readnone [[FRAME]], i32 21)
; CHECK-NEXT: call void @__heddle_block(i32 24)
; CHECK-NEXT: br label %outer
define void @nested(i1 %c, i1 %d) personality ptr @__gxx_personality_v0 {
entry:
  br label %outer

; CHECK: outer:
; CHECK-NEXT: phi i32 [ 0, %next ], [ 1, %entry ]
; CHECK-NEXT: call void @__heddle_loop_iteration(i32 %{{.*}}, i32 22)
outer:
  br label %inner

; The inner loop is left for its parent's latch, or for the end of both.
; CHECK: inner:
; CHECK-NEXT: [[FIRST:%.*]] = phi i32 [ 0, %{{.*}} ], [ 1, %outer ]
; CHECK-NEXT: call void @__heddle_loop_iteration(i32 [[FIRST]], i32 23)
; CHECK: call preserve_mostcc void @__heddle_store4
; CHECK: call void @outside()
; CHECK-NEXT: call void @__heddle_branch(i64 {{.*}}, i32 27)
; CHECK-NEXT: switch i32 0
inner:
  store i32 1, ptr @g
  call void @outside()
  switch i32 0, label %inner [ i32 1, label %next
                               i32 2, label %done ]

; CHECK: next:
; CHECK-NEXT: call void @__heddle_loop_exit(i32 1, i32 23)
; CHECK-NEXT: call void @__heddle_block
; CHECK: call void @__heddle_branch(i64 %{{.*}}, i32 29)
next:
  br i1 %d, label %outer, label %done

; CHECK: done:
; CHECK-NEXT: [[INNER:%.*]] = phi i32 [ 0, %next ], [ 1, %{{.*}} ]
; CHECK-NEXT: call void @__heddle_loop_exit(i32 [[INNER]], i32 23)
; CHECK-NEXT: call void @__heddle_loop_exit(i32 1, i32 22)
; CHECK: call void @__heddle_call_exit(i32 21)
; CHECK-NEXT: ret void
done:
  ret void
}

; The caller is gone when a musttail call is made.
; CHECK-LABEL: define void @tail
; CHECK: call void @quiet()
; CHECK: call void @__heddle_call_exit(i32 31)
; CHECK-NEXT: musttail call void @tail()
; CHECK-NEXT: ret void
define void @tail() {
  call void @quiet()
  musttail call void @tail()
  ret void
}

; An exception that ends inside a loop, and a longjmp that ends outside of any.
; CHECK-LABEL: define void @landing
; CHECK: [[HERE:%.*]] = alloca i8
; CHECK: call i32 @setjmp
; CHECK-NEXT: call void @__heddle_landed(ptr nocapture readnone [[HERE]], i32 33)
; CHECK: landingpad
; CHECK-NEXT: catch ptr null
; CHECK-NEXT: call void @__heddle_landed(ptr nocapture readnone [[HERE]], i32 34)
define void @landing() personality ptr @__gxx_personality_v0 {
  %again = call i32 @setjmp(ptr @g) returns_twice
  br label %loop
loop:
  invoke void @outside() to label %loop unwind label %pad
pad:
  %caught = landingpad { ptr, i32 } catch ptr null
  br label %loop
}

; Nothing that others may see is in this loop, but its blocks are told.
; CHECK-LABEL: define void @computing
; CHECK: call void @__heddle_loop_iteration
; CHECK: call void @__heddle_loop_exit
define void @computing(i1 %c) {
entry:
  br label %loop
loop:
  br i1 %c, label %loop, label %done
done:
  ret void
}

declare i32 @setjmp(ptr)
declare i32 @__gxx_personality_v0(...)
