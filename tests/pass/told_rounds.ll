; SPDX-License-Identifier: Apache-2.0
; VARIANT: production
; Loops whose rounds a variable of the program tells apart, though it is no number with a constant step.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@numbers = internal global [64 x i32] zeroinitializer
@given_away = internal global [64 x i32] zeroinitializer

; The step is the variable of the loop around it, upwards and downwards.
; CHECK-LABEL: define void @multiples
; CHECK-NOT: __heddle
; CHECK-NOT: heddle.
; CHECK-NOT: asm
; CHECK: ret void
define void @multiples(ptr %at) !dbg !10 {
  br label %outer, !dbg !13
outer:
  %i = phi i64 [ 2, %0 ], [ %i.next, %latch ]
    #dbg_value(i64 %i, !11, !DIExpression(), !13)
  br label %up, !dbg !13
up:
  %j = phi i64 [ %i, %outer ], [ %j.next, %up ]
    #dbg_value(i64 %j, !12, !DIExpression(), !13)
  %j.next = add i64 %j, %i
  %more = load volatile i1, ptr %at
  br i1 %more, label %up, label %down.begin, !dbg !13
down.begin:
  br label %down, !dbg !13
down:
  %k = phi i64 [ 9999, %down.begin ], [ %k.next, %down ]
    #dbg_value(i64 %k, !12, !DIExpression(), !13)
  %k.next = sub i64 %k, %i
  %again = load volatile i1, ptr %at
  br i1 %again, label %down, label %latch, !dbg !13
latch:
  %i.next = add i64 %i, 1
  %on = icmp slt i64 %i.next, 9999
  br i1 %on, label %outer, label %done, !dbg !13
done:
  ret void, !dbg !13
}

; The loop around it has no such variable: counted.
; CHECK-LABEL: define void @unnamed
; CHECK: up:
; CHECK-NEXT: %heddle.round = phi i64
define void @unnamed(ptr %at) !dbg !14 {
  br label %outer, !dbg !16
outer:
  %i = phi i64 [ 2, %0 ], [ %i.next, %latch ]
  br label %up, !dbg !16
up:
  %j = phi i64 [ %i, %outer ], [ %j.next, %up ]
    #dbg_value(i64 %j, !15, !DIExpression(), !16)
  %j.next = add i64 %j, %i
  %more = load volatile i1, ptr %at
  br i1 %more, label %up, label %latch, !dbg !16
latch:
  %i.next = add i64 %i, 1
  %on = icmp slt i64 %i.next, 9999
  br i1 %on, label %outer, label %done, !dbg !16
done:
  ret void, !dbg !16
}

; A pointer into static variables, also if a function was given it, is the same in every run.
; CHECK-LABEL: define internal void @inside
; CHECK-NOT: __heddle
; CHECK-NOT: store
; CHECK-NOT: heddle.
; CHECK: ret void
define internal void @inside(ptr %from) !dbg !17 {
  br label %loop, !dbg !19
loop:
  %p = phi ptr [ %from, %0 ], [ %next, %loop ]
    #dbg_value(ptr %p, !18, !DIExpression(), !19)
  %value = load i32, ptr %p
  %next = getelementptr inbounds i32, ptr %p, i64 1
  %more = icmp ne i32 %value, 0
  br i1 %more, label %loop, label %done, !dbg !19
done:
  ret void, !dbg !19
}

; Not where it is not called by a name: where it began is stored.
; CHECK-LABEL: define internal void @nameless
; CHECK: store volatile i64
define internal void @nameless(ptr %from) !dbg !20 {
  br label %loop, !dbg !21
loop:
  %p = phi ptr [ %from, %0 ], [ %next, %loop ]
  %value = load i32, ptr %p
  %next = getelementptr inbounds i32, ptr %p, i64 1
  %more = icmp ne i32 %value, 0
  br i1 %more, label %loop, label %done, !dbg !21
done:
  ret void, !dbg !21
}

; Nor one that may be given something else as well.
; CHECK-LABEL: define internal void @either
; CHECK: store volatile i64
define internal void @either(ptr %from) !dbg !22 {
  br label %loop, !dbg !24
loop:
  %p = phi ptr [ %from, %0 ], [ %next, %loop ]
    #dbg_value(ptr %p, !23, !DIExpression(), !24)
  %value = load i32, ptr %p
  %next = getelementptr inbounds i32, ptr %p, i64 1
  %more = icmp ne i32 %value, 0
  br i1 %more, label %loop, label %done, !dbg !24
done:
  ret void, !dbg !24
}

; Nor where the program may be ended: the variable is not kept through a call that never returns.
; CHECK-LABEL: define internal void @ends
; CHECK: fails:
; CHECK: store volatile i64
; CHECK-NEXT: #dbg_value(ptr %{{.*}}, !{{[0-9]+}}, !DIExpression(DW_OP_deref,
; CHECK: call void @abort()
define internal void @ends(ptr %from) !dbg !25 {
  br label %loop, !dbg !27
loop:
  %p = phi ptr [ %from, %0 ], [ %next, %latch ]
    #dbg_value(ptr %p, !26, !DIExpression(), !27)
  %value = load i32, ptr %p
  %bad = icmp slt i32 %value, 0
  br i1 %bad, label %fails, label %latch, !dbg !27
latch:
  %next = getelementptr inbounds i32, ptr %p, i64 1
  %more = icmp ne i32 %value, 0
  br i1 %more, label %loop, label %done, !dbg !27
done:
  ret void, !dbg !27
fails:
  call void @abort(), !dbg !27
  unreachable, !dbg !27
}

define void @calls(ptr %anything) {
  call void @inside(ptr @numbers)
  call void @nameless(ptr @numbers)
  call void @ends(ptr @numbers)
  call void @keep(ptr @given_away)
  call void @either(ptr @given_away)
  call void @either(ptr %anything)
  ret void
}
declare void @keep(ptr)
declare void @abort() noreturn

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!1}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !2, isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !{i32 2, !"Debug Info Version", i32 3}
!2 = !DIFile(filename: "told.c", directory: ".")
!3 = !DISubroutineType(types: !{null})
!4 = !DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)
!10 = distinct !DISubprogram(name: "multiples", file: !2, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!11 = !DILocalVariable(name: "i", scope: !10, file: !2, line: 2, type: !4)
!12 = !DILocalVariable(name: "j", scope: !10, file: !2, line: 2, type: !4)
!13 = !DILocation(line: 3, scope: !10)
!14 = distinct !DISubprogram(name: "unnamed", file: !2, line: 10, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!15 = !DILocalVariable(name: "j", scope: !14, file: !2, line: 11, type: !4)
!16 = !DILocation(line: 12, scope: !14)
!17 = distinct !DISubprogram(name: "inside", file: !2, line: 20, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!18 = !DILocalVariable(name: "p", scope: !17, file: !2, line: 21, type: !4)
!19 = !DILocation(line: 22, scope: !17)
!20 = distinct !DISubprogram(name: "nameless", file: !2, line: 30, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!21 = !DILocation(line: 32, scope: !20)
!22 = distinct !DISubprogram(name: "either", file: !2, line: 40, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!23 = !DILocalVariable(name: "p", scope: !22, file: !2, line: 41, type: !4)
!24 = !DILocation(line: 42, scope: !22)
!25 = distinct !DISubprogram(name: "ends", file: !2, line: 50, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!26 = !DILocalVariable(name: "p", scope: !25, file: !2, line: 51, type: !4)
!27 = !DILocation(line: 52, scope: !25)
