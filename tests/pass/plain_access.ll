; SPDX-License-Identifier: Apache-2.0
; Loads and stores of 1, 2, 4 and 8 bytes are performed by hooks, whatever their type; others stay
; and are announced.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define i8 @load_i8
; CHECK-NEXT: %[[B:.*]] = call preserve_mostcc zeroext i8 @__heddle_load1(ptr %p, i32 16)
; CHECK-NEXT: ret i8 %[[B]]
define i8 @load_i8(ptr %p) {
  %v = load i8, ptr %p
  ret i8 %v
}

; CHECK-LABEL: define i1 @load_i1
; CHECK-NEXT: %[[B:.*]] = call preserve_mostcc zeroext i8 @__heddle_load1(ptr %p, i32 17)
; CHECK-NEXT: %v = trunc i8 %[[B]] to i1
define i1 @load_i1(ptr %p) {
  %v = load i1, ptr %p
  ret i1 %v
}

; CHECK-LABEL: define half @load_half
; CHECK-NEXT: %[[B:.*]] = call preserve_mostcc zeroext i16 @__heddle_load2(ptr %p, i32 18)
; CHECK-NEXT: %v = bitcast i16 %[[B]] to half
define half @load_half(ptr %p) {
  %v = load half, ptr %p
  ret half %v
}

; CHECK-LABEL: define double @load_double
; CHECK-NEXT: %[[B:.*]] = call preserve_mostcc i64 @__heddle_load8(ptr %p, i32 19)
; CHECK-NEXT: %v = bitcast i64 %[[B]] to double
define double @load_double(ptr %p) {
  %v = load volatile double, ptr %p
  ret double %v
}

; CHECK-LABEL: define ptr @load_pointer
; CHECK-NEXT: %[[B:.*]] = call preserve_mostcc i64 @__heddle_load8(ptr %p, i32 20)
; CHECK-NEXT: %v = inttoptr i64 %[[B]] to ptr
define ptr @load_pointer(ptr %p) {
  %v = load ptr, ptr %p
  ret ptr %v
}

; CHECK-LABEL: define <2 x float> @load_small_vector
; CHECK-NEXT: %[[B:.*]] = call preserve_mostcc i64 @__heddle_load8(ptr %p, i32 21)
; CHECK-NEXT: %v = bitcast i64 %[[B]] to <2 x float>
define <2 x float> @load_small_vector(ptr %p) {
  %v = load <2 x float>, ptr %p
  ret <2 x float> %v
}

; CHECK-LABEL: define i128 @load_wide
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_read(ptr %p, i64 16, i32 22)
; CHECK-NEXT: %v = load i128, ptr %p
define i128 @load_wide(ptr %p) {
  %v = load i128, ptr %p
  ret i128 %v
}

; CHECK-LABEL: define i24 @load_odd
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_read(ptr %p, i64 3, i32 23)
; CHECK-NEXT: %v = load i24, ptr %p
define i24 @load_odd(ptr %p) {
  %v = load i24, ptr %p
  ret i24 %v
}

; CHECK-LABEL: define void @store_i1
; CHECK-NEXT: %[[B:.*]] = zext i1 %v to i8
; CHECK-NEXT: call preserve_mostcc void @__heddle_store1(ptr %p, i8 zeroext %[[B]], i32 24)
; CHECK-NEXT: ret void
define void @store_i1(ptr %p, i1 %v) {
  store i1 %v, ptr %p
  ret void
}

; CHECK-LABEL: define void @store_float
; CHECK-NEXT: %[[B:.*]] = bitcast float %v to i32
; CHECK-NEXT: call preserve_mostcc void @__heddle_store4(ptr %p, i32 %[[B]], i32 25)
; CHECK-NEXT: ret void
define void @store_float(ptr %p, float %v) {
  store float %v, ptr %p
  ret void
}

; CHECK-LABEL: define void @store_pointer
; CHECK-NEXT: %[[B:.*]] = ptrtoint ptr %v to i64
; CHECK-NEXT: call preserve_mostcc void @__heddle_store8(ptr %p, i64 %[[B]], i32 26)
; CHECK-NEXT: ret void
define void @store_pointer(ptr %p, ptr %v) {
  store ptr %v, ptr %p
  ret void
}

; CHECK-LABEL: define void @store_pair
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_write(ptr %p, i64 8, i32 27)
; CHECK-NEXT: store { i32, i32 } %v, ptr %p
define void @store_pair(ptr %p, { i32, i32 } %v) {
  store { i32, i32 } %v, ptr %p
  ret void
}

; CHECK-LABEL: define void @store_long_double
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_write(ptr %p, i64 10, i32 28)
; CHECK-NEXT: store x86_fp80 %v, ptr %p
define void @store_long_double(ptr %p, x86_fp80 %v) {
  store x86_fp80 %v, ptr %p
  ret void
}

; A load that depends on a replaced one gets the new address.
; CHECK-LABEL: define i32 @chain
; CHECK-NEXT: %[[B:.*]] = call preserve_mostcc i64 @__heddle_load8(ptr %p, i32 29)
; CHECK-NEXT: %q = inttoptr i64 %[[B]] to ptr
; CHECK-NEXT: call preserve_mostcc i32 @__heddle_load4(ptr %q, i32 30)
define i32 @chain(ptr %p) {
  %q = load ptr, ptr %p
  %v = load i32, ptr %q
  ret i32 %v
}

; Memory relative to a segment register has no address a hook could use.
; CHECK-LABEL: define i32 @segment
; CHECK-NEXT: load i32, ptr addrspace(257) %p
define i32 @segment(ptr addrspace(257) %p) {
  %v = load i32, ptr addrspace(257) %p
  ret i32 %v
}

; CHECK: declare preserve_mostcc zeroext i8 @__heddle_load1(ptr, i32) #[[A:[0-9]+]]
; CHECK: attributes #[[A]] = { nounwind nonlazybind }
