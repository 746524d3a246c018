; SPDX-License-Identifier: Apache-2.0
; VARIANT: production+marks
; Each block begins by saying which it is: by the number of its first instruction. Behind a call of
; the program's own code, which says so too, it is said again.

; CHECK: @__heddle_mark = weak hidden global i32 0
; CHECK-LABEL: define i32 @choose
; CHECK-NEXT: store volatile i32 1, ptr @__heddle_mark
; CHECK: left:
; CHECK-NEXT: store volatile i32 3, ptr @__heddle_mark
; CHECK: right:
; CHECK-NEXT: store volatile i32 5, ptr @__heddle_mark
; CHECK: done:
; CHECK-NEXT: phi
; CHECK-NEXT: store volatile i32 6, ptr @__heddle_mark
define i32 @choose(i32 %x, ptr %p) {
  %c = icmp eq i32 %x, 0
  br i1 %c, label %left, label %right
left:
  %v = load i32, ptr %p
  br label %done
right:
  br label %done
done:
  %r = phi i32 [ %v, %left ], [ %x, %right ]
  ret i32 %r
}

; CHECK-LABEL: define i32 @calls
; CHECK-NEXT: store volatile i32 [[CALLS:[0-9]+]], ptr @__heddle_mark
; CHECK-NEXT: call i32 @choose
; CHECK-NEXT: store volatile i32 [[CALLS]], ptr @__heddle_mark
; CHECK-NEXT: call i32 @outside
; CHECK-NEXT: ret i32
define i32 @calls(i32 %x, ptr %p) {
  %a = call i32 @choose(i32 %x, ptr %p)
  %b = call i32 @outside(i32 %a)
  ret i32 %b
}
declare i32 @outside(i32)
