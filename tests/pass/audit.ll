; SPDX-License-Identifier: Apache-2.0
; VARIANT: full+audit
; Accesses without a hook say why they have none; variables say where they begin and end.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK: @llvm.global_ctors = appending global {{.*}} { i32 0, ptr @heddle.audit_begin, ptr null }
@constant = internal constant i32 7
@variable = global i32 7

declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

; 2: local-stack, 6: constant (abi/sharing.def).
; CHECK-LABEL: define i32 @accesses
; CHECK: %local = alloca i32
; CHECK-NEXT: call void @__heddle_audit_forget(ptr %local, i64 4, i32 [[FUNCTION:[0-9]+]])
; CHECK: call void @llvm.lifetime.start.p0(i64 4, ptr %local)
; CHECK-NEXT: call void @__heddle_audit_forget(ptr %local, i64 4, i32 [[FUNCTION]])
; CHECK-NEXT: call void @__heddle_audit_write(ptr %local, i64 4, i32 2, i32 16)
; CHECK-NEXT: store i32 1, ptr %local
; CHECK: call void @__heddle_audit_read(ptr @constant, i64 4, i32 6, i32 17)
; CHECK-NEXT: load i32, ptr @constant
; CHECK: call preserve_mostcc i32 @__heddle_load4(ptr @variable, i32 18)
; CHECK-NOT: audit_read
; CHECK: call void @__heddle_audit_forget(ptr %local, i64 4, i32 [[FUNCTION]])
; CHECK-NEXT: ret i32
define i32 @accesses() {
  %local = alloca i32
  call void @llvm.lifetime.start.p0(i64 4, ptr %local)
  store i32 1, ptr %local
  %fixed = load i32, ptr @constant
  %shared = load i32, ptr @variable
  %sum = add i32 %fixed, %shared
  ret i32 %sum
}

; A copy has two halves, each with its own verdict.
; CHECK-LABEL: define void @copies
; CHECK: call preserve_mostcc void @__heddle_range_write(ptr @variable, i64 4, i32 20)
; CHECK: call void @__heddle_audit_read(ptr %local, i64 4, i32 2, i32 19)
; CHECK-NEXT: call void @llvm.memcpy
define void @copies() {
  %local = alloca i32
  call void @llvm.memcpy.p0.p0.i64(ptr @variable, ptr %local, i64 4, i1 false)
  ret void
}

; Nothing but the return may follow a musttail call.
; CHECK-LABEL: define void @tail
; CHECK: call void @__heddle_audit_forget(ptr %local, i64 4
; CHECK: call void @__heddle_audit_forget(ptr %local, i64 4
; CHECK-NEXT: musttail call void @tail()
; CHECK-NEXT: ret void
define void @tail() {
  %local = alloca i32
  musttail call void @tail()
  ret void
}

; CHECK: define internal void @heddle.audit_begin
; CHECK: call void @__heddle_audit_begin(i32 0)
