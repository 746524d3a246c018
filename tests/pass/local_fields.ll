; SPDX-License-Identifier: Apache-2.0
; What is told apart within memory: fields, the elements of arrays from what is beside them, what
; functions that merely hand on allocations give to each caller. And what is not.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%stream = type { ptr, ptr, [16 x i8], ptr }

declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare void @keep(ptr)

define internal ptr @allocate(ptr %opaque, i64 %bytes) {
  %memory = call ptr @malloc(i64 %bytes)
  ret ptr %memory
}

define internal void @release(ptr %memory) {
  call void @free(ptr %memory)
  ret void
}

; The input is shared, the state is not, although one structure has both, and the allocator is
; reached through a third field of it.
; CHECK-LABEL: define void @fields
; CHECK: call void @keep(ptr %input)
; CHECK: call preserve_mostcc zeroext i8 @__heddle_load1(ptr %in
; CHECK: store i8 %byte, ptr %state
define void @fields() {
  %s = alloca %stream
  %input = call ptr @malloc(i64 64)
  call void @keep(ptr %input)
  store ptr %input, ptr %s
  %allocator = getelementptr %stream, ptr %s, i64 0, i32 3
  store ptr @allocate, ptr %allocator
  %called = load ptr, ptr %allocator
  %fresh = call ptr %called(ptr null, i64 64)
  %place = getelementptr %stream, ptr %s, i64 0, i32 1
  store ptr %fresh, ptr %place
  %in = load ptr, ptr %s
  %byte = load i8, ptr %in
  %state = load ptr, ptr %place
  store i8 %byte, ptr %state
  call void @release(ptr %state)
  call void @release(ptr %in)
  ret void
}

; An index into the array between them does not make one of the two; one into the structure does.
; CHECK-LABEL: define void @array_inside
; CHECK: call preserve_mostcc zeroext i8 @__heddle_load1(ptr %input
; CHECK: store i8 1, ptr %state
define void @array_inside(i64 %i, ptr %input) {
  %s = alloca %stream
  %own = call ptr @malloc(i64 64)
  store ptr %input, ptr %s
  %place = getelementptr %stream, ptr %s, i64 0, i32 1
  store ptr %own, ptr %place
  %element = getelementptr %stream, ptr %s, i64 0, i32 2, i64 %i
  %byte = load i8, ptr %input
  store i8 %byte, ptr %element
  %copied = load i8, ptr %element
  store i8 %copied, ptr %element
  %state = load ptr, ptr %place
  store i8 1, ptr %state
  ret void
}

; CHECK-LABEL: define void @anywhere_inside
; CHECK: call preserve_mostcc void @__heddle_store1(ptr %state
define void @anywhere_inside(i64 %i, ptr %input) {
  %s = alloca %stream
  %own = call ptr @malloc(i64 64)
  %place = getelementptr %stream, ptr %s, i64 0, i32 1
  store ptr %own, ptr %place
  %somewhere = getelementptr i8, ptr %s, i64 %i
  store ptr %input, ptr %somewhere
  %state = load ptr, ptr %place
  store i8 1, ptr %state
  ret void
}

; A call through a pointer: what one callee keeps is shared, whichever it is.
@kept = internal global ptr null
define internal void @uses(ptr %p) {
  store i32 1, ptr %p
  ret void
}
define internal void @keeps(ptr %p) {
  store ptr %p, ptr @kept
  ret void
}

; CHECK-LABEL: define i32 @used_through_pointer
; CHECK: call void %callee(ptr %l)
; CHECK-NEXT: load i32, ptr %l
define i32 @used_through_pointer(i1 %c) {
  %l = alloca i32
  %callee = select i1 %c, ptr @uses, ptr null
  call void %callee(ptr %l)
  %v = load i32, ptr %l
  ret i32 %v
}

; CHECK-LABEL: define i32 @kept_through_pointer
; CHECK: call void %callee(ptr %l)
; CHECK-NEXT: call preserve_mostcc i32 @__heddle_load4(ptr %l
define i32 @kept_through_pointer(i1 %c) {
  %l = alloca i32
  %callee = select i1 %c, ptr @keeps, ptr @other_uses
  call void %callee(ptr %l)
  %v = load i32, ptr %l
  ret i32 %v
}
define internal void @other_uses(ptr %p) {
  ret void
}

; A pointer to a function from elsewhere may lead anywhere.
; CHECK-LABEL: define i32 @called_outside
; CHECK: call preserve_mostcc i32 @__heddle_load4(ptr %l
define i32 @called_outside(ptr %callee) {
  %l = alloca i32
  call void %callee(ptr %l)
  %v = load i32, ptr %l
  ret i32 %v
}
