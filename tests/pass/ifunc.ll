; SPDX-License-Identifier: Apache-2.0
; A resolver runs before the program is relocated: numbered, never hooked.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@wide = global i32 0
@work = ifunc i32 (), ptr @choose

define internal i32 @narrow_work() {
  ret i32 1
}

; CHECK-LABEL: define internal ptr @choose
; CHECK-NEXT: %v = load i32, ptr @wide
; CHECK-NEXT: ret ptr
define internal ptr @choose() {
  %v = load i32, ptr @wide
  ret ptr @narrow_work
}

; CHECK-LABEL: define i32 @main
; CHECK-NEXT: call void @__heddle_leave(ptr @work, i32 17)
; CHECK-NEXT: store i32 17, ptr @__heddle_call_site
; CHECK-NEXT: call i32 @work()
define i32 @main() {
  %r = call i32 @work()
  ret i32 %r
}
