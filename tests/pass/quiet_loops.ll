; SPDX-License-Identifier: Apache-2.0
; VARIANT: full+loops+depends
; A loop in which nothing can be recorded says nothing of its rounds.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@g = global i32 0

declare void @outside()
declare i32 @computes(i32) memory(none)

; Of two loops, the outer one has an access that others may see.
; CHECK-LABEL: define void @inner_is_quiet
; CHECK: outer:
; CHECK: call void @__heddle_loop_iteration
; CHECK: inner:
; CHECK-NOT: call void @__heddle_loop
; CHECK: behind:
; CHECK-NOT: call void @__heddle_loop_exit
; CHECK: call preserve_mostcc void @__heddle_store4
; CHECK: done:
; CHECK-NEXT: call void @__heddle_loop_exit
; CHECK: ret void
define void @inner_is_quiet(i1 %c, i1 %d) {
entry:
  br label %outer
outer:
  br label %inner
inner:
  %x = call i32 @computes(i32 1)
  br i1 %c, label %inner, label %behind
behind:
  store i32 %x, ptr @g
  br i1 %d, label %outer, label %done
done:
  ret void
}

; CHECK-LABEL: define i32 @recursive
; CHECK-NOT: call void @__heddle_loop
; CHECK: ret i32
define i32 @recursive(i32 %n, i1 %c) {
entry:
  br label %loop
loop:
  %x = call i32 @recursive(i32 %n, i1 %c)
  br i1 %c, label %loop, label %done
done:
  ret i32 %x
}

; CHECK-LABEL: define void @far
define void @far() {
  call void @outside()
  ret void
}

; CHECK-LABEL: define void @near
define void @near() {
  call void @far()
  ret void
}

; CHECK-LABEL: define void @calls_what_calls
; CHECK: call void @__heddle_loop_iteration
; CHECK: call void @__heddle_loop_exit
define void @calls_what_calls(i1 %c) {
entry:
  br label %loop
loop:
  call void @near()
  br i1 %c, label %loop, label %done
done:
  ret void
}

; CHECK-LABEL: define void @calls_anything
; CHECK: call void @__heddle_loop_iteration
; CHECK: call void @__heddle_loop_exit
define void @calls_anything(ptr %what, i1 %c) {
entry:
  br label %loop
loop:
  call void %what()
  br i1 %c, label %loop, label %done
done:
  ret void
}

; Another of that name may be linked.
; CHECK-LABEL: define weak void @replaceable
define weak void @replaceable() {
  ret void
}

; CHECK-LABEL: define void @calls_replaceable
; CHECK: call void @__heddle_loop_iteration
; CHECK: call void @__heddle_loop_exit
define void @calls_replaceable(i1 %c) {
entry:
  br label %loop
loop:
  call void @replaceable()
  br i1 %c, label %loop, label %done
done:
  ret void
}
