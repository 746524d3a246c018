; SPDX-License-Identifier: Apache-2.0
; Copies, fills and vector accesses are announced before they happen.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK-LABEL: define void @copy
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_read(ptr %s, i64 %n, i32 16)
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_write(ptr %d, i64 %n, i32 17)
; CHECK-NEXT: call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)
define void @copy(ptr %d, ptr %s, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %s, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: define void @move_short_length
; CHECK-NEXT: %[[N:.*]] = zext i32 %n to i64
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_read(ptr %s, i64 %[[N]], i32 18)
; CHECK: call preserve_mostcc void @__heddle_range_write(ptr %d, i64 %{{.*}}, i32 19)
define void @move_short_length(ptr %d, ptr %s, i32 %n) {
  call void @llvm.memmove.p0.p0.i32(ptr %d, ptr %s, i32 %n, i1 false)
  ret void
}

; CHECK-LABEL: define void @set
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_write(ptr %d, i64 40, i32 20)
; CHECK-NEXT: call void @llvm.memset
define void @set(ptr %d) {
  call void @llvm.memset.p0.i64(ptr %d, i8 0, i64 40, i1 false)
  ret void
}

; Of a copy out of a local variable only the write is announced; both are numbered.
; CHECK-LABEL: define void @copy_local
; CHECK: alloca
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_write(ptr %d, i64 16, i32 22)
; CHECK-NEXT: call void @llvm.memcpy
define void @copy_local(ptr %d) {
  %l = alloca [16 x i8]
  call void @llvm.memcpy.p0.p0.i64(ptr %d, ptr %l, i64 16, i1 false)
  ret void
}

; A lane that is masked off touches no bytes.
; CHECK-LABEL: define <2 x i32> @masked_load
; CHECK: %[[P0:.*]] = getelementptr i32, ptr %p, i32 0
; CHECK: %[[M0:.*]] = extractelement <2 x i1> %m, i64 0
; CHECK-NEXT: %[[N0:.*]] = select i1 %[[M0]], i64 4, i64 0
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_read(ptr %[[P0]], i64 %[[N0]], i32 23)
; CHECK-NEXT: %[[P1:.*]] = getelementptr i32, ptr %p, i32 1
; CHECK-NEXT: %[[M1:.*]] = extractelement <2 x i1> %m, i64 1
; CHECK-NEXT: %[[N1:.*]] = select i1 %[[M1]], i64 4, i64 0
; CHECK-NEXT: call preserve_mostcc void @__heddle_range_read(ptr %[[P1]], i64 %[[N1]], i32 23)
; CHECK-NEXT: call <2 x i32> @llvm.masked.load
define <2 x i32> @masked_load(ptr %p, <2 x i1> %m, <2 x i32> %o) {
  %v = call <2 x i32> @llvm.masked.load.v2i32.p0(ptr %p, i32 4, <2 x i1> %m, <2 x i32> %o)
  ret <2 x i32> %v
}

; CHECK-LABEL: define void @scatter
; CHECK: %[[P0:.*]] = extractelement <2 x ptr> %p, i64 0
; CHECK: call preserve_mostcc void @__heddle_range_write(ptr %[[P0]], i64 %{{.*}}, i32 24)
; CHECK: %[[P1:.*]] = extractelement <2 x ptr> %p, i64 1
; CHECK: call preserve_mostcc void @__heddle_range_write(ptr %[[P1]], i64 %{{.*}}, i32 24)
; CHECK: call void @llvm.masked.scatter
define void @scatter(<2 x i64> %v, <2 x ptr> %p, <2 x i1> %m) {
  call void @llvm.masked.scatter.v2i64.v2p0(<2 x i64> %v, <2 x ptr> %p, i32 8, <2 x i1> %m)
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i32(ptr, ptr, i32, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare <2 x i32> @llvm.masked.load.v2i32.p0(ptr, i32, <2 x i1>, <2 x i32>)
declare void @llvm.masked.scatter.v2i64.v2p0(<2 x i64>, <2 x ptr>, i32, <2 x i1>)
