; SPDX-License-Identifier: Apache-2.0
; VARIANT: sites
; The table is there and the code is not; names, and what refers to them, stay.

; CHECK-DAG: section "heddle_sites"
; CHECK-DAG: @ways = global [2 x ptr]
; CHECK: define i32 @choose(i32 %x, ptr %p) {
; CHECK-NEXT: unreachable
; CHECK-NEXT: }
; CHECK: define linkonce_odr void @shared() comdat {
; CHECK-NEXT: unreachable
; CHECK-NOT: !DISubprogram
$shared = comdat any
@ways = global [2 x ptr] [ptr blockaddress(@choose, %left), ptr @shared]

define i32 @choose(i32 %x, ptr %p) {
  %c = icmp eq i32 %x, 0
  br i1 %c, label %left, label %right
left:
  %v = load i32, ptr %p
  ret i32 %v
right:
  call void @shared()
  ret i32 0
}

define linkonce_odr void @shared() comdat personality ptr @choose {
  ret void
}
