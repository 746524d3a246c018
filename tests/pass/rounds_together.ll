; SPDX-License-Identifier: Apache-2.0
; VARIANT: production,heddle-rounds-together
; Rounds that are counted in a register are laid out one behind the other and counted at once.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; One addition for eight rounds; where the loop is left before it, the count is needed as it is.
; CHECK-LABEL: define void @list
; CHECK: loop:
; CHECK: [[COUNT:%.*]] = phi i64 [ 0, %0 ], [ [[MORE:%.*]], %loop.7 ]
; CHECK: #dbg_value(i64 [[COUNT]], ![[ROUND:[0-9]+]], !DIExpression({{.*}})
; CHECK-NOT: add i64
; CHECK: loop.3:
; CHECK: #dbg_value(i64 [[COUNT]], ![[ROUND]], !DIExpression(DW_OP_plus_uconst, 3, DW_OP_stack_value)
; CHECK-NOT: add i64
; CHECK: loop.7:
; CHECK: [[MORE]] = add i64 [[COUNT]], 8
; CHECK-NOT: add i64
; CHECK: done:
; CHECK-NEXT: [[LEFT:%.*]] = phi i64 [ [[COUNT]], %loop ], [ [[COUNT]], %loop.1 ], {{.*}} [ [[MORE]], %loop.7 ]
; CHECK-NEXT: call void asm sideeffect "", "r"(i64 [[LEFT]])
define void @list(ptr %first) !dbg !10 {
  br label %loop, !dbg !11
loop:
  %node = phi ptr [ %first, %0 ], [ %following, %loop ]
  %following = load ptr, ptr %node
  %more = icmp ne ptr %following, null
  br i1 %more, label %loop, label %done, !dbg !11
done:
  ret void, !dbg !11
}

; Not against the programmer's will.
; CHECK-LABEL: define void @as_it_is
; CHECK: add i64 %heddle.round, 1
; CHECK-NOT: loop.1
; CHECK: ret void
define void @as_it_is(ptr %first) !dbg !12 {
  br label %loop, !dbg !13
loop:
  %node = phi ptr [ %first, %0 ], [ %following, %loop ]
  %following = load ptr, ptr %node
  %more = icmp ne ptr %following, null
  br i1 %more, label %loop, label %done, !dbg !13, !llvm.loop !20
done:
  ret void, !dbg !13
}

; Nor where the program is to be small.
; CHECK-LABEL: define void @small
; CHECK: add i64 %heddle.round, 1
; CHECK-NOT: loop.1
; CHECK: ret void
define void @small(ptr %first) optsize !dbg !14 {
  br label %loop, !dbg !15
loop:
  %node = phi ptr [ %first, %0 ], [ %following, %loop ]
  %following = load ptr, ptr %node
  %more = icmp ne ptr %following, null
  br i1 %more, label %loop, label %done, !dbg !15
done:
  ret void, !dbg !15
}

; Loops that are not counted stay as they are.
; CHECK-LABEL: define void @described
; CHECK-NOT: loop.1
; CHECK: ret void
define void @described(ptr %from) !dbg !16 {
  br label %loop, !dbg !17
loop:
  %p = phi ptr [ %from, %0 ], [ %next, %loop ]
  %value = load i32, ptr %p
  %next = getelementptr inbounds i32, ptr %p, i64 1
  %more = icmp ne i32 %value, 0
  br i1 %more, label %loop, label %done, !dbg !17
done:
  ret void, !dbg !17
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!1}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !2, isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !{i32 2, !"Debug Info Version", i32 3}
!2 = !DIFile(filename: "together.c", directory: ".")
!3 = !DISubroutineType(types: !{null})
!10 = distinct !DISubprogram(name: "list", file: !2, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!11 = !DILocation(line: 3, scope: !10)
!12 = distinct !DISubprogram(name: "as_it_is", file: !2, line: 10, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!13 = !DILocation(line: 13, scope: !12)
!14 = distinct !DISubprogram(name: "small", file: !2, line: 20, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!15 = !DILocation(line: 23, scope: !14)
!16 = distinct !DISubprogram(name: "described", file: !2, line: 30, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!17 = !DILocation(line: 33, scope: !16)
!20 = distinct !{!20, !21}
!21 = !{!"llvm.loop.unroll.disable"}
