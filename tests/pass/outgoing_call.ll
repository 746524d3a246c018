; SPDX-License-Identifier: Apache-2.0
; Calls that leave instrumented code say where; nothing comes between a musttail call and its return.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK: @__heddle_abi_v5 = external global i8
; CHECK: @heddle.abi_version = private global ptr @__heddle_abi_v5
; CHECK: @llvm.used = appending global {{.*}}@heddle.abi_version
; CHECK: @__heddle_call_site = external global i32

declare void @outside(ptr)
declare i32 @outside_value(i32)
declare i32 @__gxx_personality_v0(...)
declare double @llvm.sqrt.f64(double)
@alias_of_inside = alias void (), ptr @inside

define void @inside() {
  ret void
}

; CHECK-LABEL: define void @external
; CHECK-NEXT: call void @__heddle_leave(ptr null, i32 16)
; CHECK-NEXT: store i32 16, ptr @__heddle_call_site
; CHECK-NEXT: call void @outside(ptr null)
; CHECK-NEXT: ret void
define void @external() {
  call void @outside(ptr null)
  ret void
}

; CHECK-LABEL: define void @indirect
; CHECK-NEXT: call void @__heddle_leave(ptr %f, i32 17)
; CHECK-NEXT: store i32 17, ptr @__heddle_call_site
; CHECK-NEXT: call void %f()
define void @indirect(ptr %f) {
  call void %f()
  ret void
}

; CHECK-LABEL: define double @not_leaving
; CHECK-NOT: @__heddle
; CHECK: ret double
define double @not_leaving(double %x) {
  call void @inside()
  call void @alias_of_inside()
  call void asm sideeffect "nop", ""()
  %y = call double @llvm.sqrt.f64(double %x)
  ret double %y
}

; CHECK-LABEL: define i32 @tail
; CHECK-NEXT: call void @__heddle_leave(ptr null, i32 19)
; CHECK-NEXT: store i32 19, ptr @__heddle_call_site
; CHECK-NEXT: %r = musttail call i32 @outside_value(i32 %x)
; CHECK-NEXT: ret i32 %r
define i32 @tail(i32 %x) {
  %r = musttail call i32 @outside_value(i32 %x)
  ret i32 %r
}

; CHECK-LABEL: define void @invoking
; CHECK: call void @__heddle_leave(ptr null, i32 20)
; CHECK-NEXT: store i32 20, ptr @__heddle_call_site
; CHECK-NEXT: invoke void @outside(ptr null)
define void @invoking() personality ptr @__gxx_personality_v0 {
  invoke void @outside(ptr null) to label %done unwind label %caught
done:
  ret void
caught:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; What looks at none of the program's memory need not see its pending stores, but its site is looked
; at by the runtime's allocator: the optimiser must not think that nobody does.
; CHECK-LABEL: define ptr @allocating
; CHECK-NEXT: store volatile i32 21, ptr @__heddle_call_site
; CHECK-NEXT: call ptr @allocate
; CHECK-NEXT: store i32 22, ptr @__heddle_call_site
; CHECK-NEXT: call double @pure
declare ptr @allocate(i64) memory(inaccessiblemem: readwrite)
declare double @pure(double) memory(none)
define ptr @allocating() {
  %p = call ptr @allocate(i64 8)
  %x = call double @pure(double 1.0)
  ret ptr %p
}

; Assembly that names memory acts on it without hooks; an empty one is for the compiler only. Other
; assembly (not_leaving) is a site, which has a number and no hook.
; CHECK-LABEL: define void @assembly
; CHECK-NEXT: call void @__heddle_leave(ptr null, i32 23)
; CHECK-NEXT: store i32 23, ptr @__heddle_call_site
; CHECK-NEXT: call void asm sideeffect "mfence"
; CHECK-NEXT: call void asm sideeffect ""
; CHECK-NEXT: ret void
define void @assembly() {
  call void asm sideeffect "mfence", "~{memory}"()
  call void asm sideeffect "", "~{memory}"()
  ret void
}
