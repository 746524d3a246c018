; SPDX-License-Identifier: Apache-2.0
; VARIANT: production
; A loop is counted by a store a round only where nothing in it moves by a constant.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; A variable of the program's own tells the rounds apart, whether its step is a constant or another.
; CHECK-LABEL: define void @described
; CHECK-NOT: __heddle
; CHECK-NOT: store
; CHECK-NOT: heddle.
; CHECK: ret void
define void @described(i64 %from, i64 %step, i64 %end) !dbg !10 {
    #dbg_value(i64 %step, !12, !DIExpression(), !20)
  br label %up, !dbg !20
up:
  %i = phi i64 [ %from, %0 ], [ %i.next, %up ]
    #dbg_value(i64 %i, !11, !DIExpression(), !20)
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %end
  br i1 %more, label %up, label %middle, !dbg !20
middle:
  br label %strides, !dbg !20
strides:
  %j = phi i64 [ %from, %middle ], [ %j.next, %strides ]
    #dbg_value(i64 %j, !11, !DIExpression(), !20)
  %j.next = add i64 %j, %step
  %again = icmp slt i64 %j.next, %end
  br i1 %again, label %strides, label %done, !dbg !20
done:
  ret void, !dbg !20
}

; A counter that nobody describes (of a vectorised loop, say): the description is all that is added.
; CHECK-LABEL: define void @undescribed
; CHECK-NOT: store
; CHECK: loop:
; CHECK-NEXT: %i = phi i32
; CHECK-NEXT: #dbg_value(!DIArgList(i32 %i), ![[COUNT:[0-9]+]], !DIExpression(DW_OP_LLVM_arg, 0, DW_OP_constu, 8, DW_OP_minus, DW_OP_constu, 4294967295, DW_OP_and, DW_OP_constu, 4, DW_OP_div, DW_OP_constu, 0, DW_OP_minus, DW_OP_stack_value)
; CHECK-NEXT: %next = add i32 %i, 4
; CHECK-NEXT: #dbg_value(!DIArgList(i32 %next), ![[COUNT]], !DIExpression({{.*}}DW_OP_constu, 1, DW_OP_minus, DW_OP_stack_value)
; CHECK-NOT: store
; CHECK: ret void
define void @undescribed(i32 %end) !dbg !14 {
  br label %loop, !dbg !21
loop:
  %i = phi i32 [ 8, %0 ], [ %next, %loop ]
  %next = add i32 %i, 4
  %more = icmp slt i32 %next, %end
  br i1 %more, label %loop, label %done, !dbg !21
done:
  ret void, !dbg !21
}

; A pointer: where it began is stored once. Downwards the difference is the other way round.
; CHECK-LABEL: define void @pointer
; CHECK: [[START:%.*]] = alloca i64
; CHECK: [[BITS:%.*]] = ptrtoint ptr %from to i64
; CHECK-NEXT: store volatile i64 [[BITS]], ptr [[START]]
; CHECK: loop:
; CHECK-NEXT: %p = phi ptr
; CHECK-NEXT: #dbg_value(!DIArgList(ptr %p, ptr [[START]]), ![[POINTER:[0-9]+]], !DIExpression(DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_deref, DW_OP_swap, DW_OP_minus, DW_OP_constu, 4, DW_OP_div, {{.*}})
; CHECK-NOT: store
; CHECK: ret void
define void @pointer(ptr %from) !dbg !15 {
  br label %loop, !dbg !22
loop:
  %p = phi ptr [ %from, %0 ], [ %next, %loop ]
  %value = load i32, ptr %p
  %next = getelementptr inbounds i32, ptr %p, i64 -1
  %more = icmp ne i32 %value, 0
  br i1 %more, label %loop, label %done, !dbg !22
done:
  ret void, !dbg !22
}

; Nothing to go by.
; CHECK-LABEL: define void @list
; CHECK: [[SLOT:%.*]] = alloca i64
; CHECK: #dbg_declare(ptr [[SLOT]]
; CHECK: loop:
; CHECK-NEXT: [[ROUND:%.*]] = phi i64 [ [[NEXT:%.*]], %loop ], [ 0, %0 ]
; CHECK: store volatile i64 [[ROUND]], ptr [[SLOT]]
; CHECK-NEXT: [[NEXT]] = add i64 [[ROUND]], 1
define void @list(ptr %first) !dbg !16 {
  br label %loop, !dbg !23
loop:
  %node = phi ptr [ %first, %0 ], [ %following, %loop ]
  %following = load ptr, ptr %node
  %more = icmp ne ptr %following, null
  br i1 %more, label %loop, label %done, !dbg !23
done:
  ret void, !dbg !23
}

; Two loops in a row: where the second begins is stored once between them, not in each round of the
; first.
; CHECK-LABEL: define void @one_after_another
; CHECK: first:
; CHECK-NOT: store
; CHECK: br i1 %more, label %first, label %[[BETWEEN:.*]], !dbg
; CHECK: [[BETWEEN]]:
; CHECK: store volatile i64
; CHECK: second:
; CHECK-NEXT: %q = phi ptr [ %{{.*}}, %[[BETWEEN]] ]
define void @one_after_another(ptr %from, ptr %back) !dbg !18 {
  br label %first, !dbg !25
first:
  %p = phi ptr [ %from, %0 ], [ %p.next, %first ]
  %value = load i32, ptr %p
  %p.next = getelementptr inbounds i32, ptr %p, i64 1
  %more = icmp ne i32 %value, 0
  br i1 %more, label %first, label %second, !dbg !25
second:
  %q = phi ptr [ %back, %first ], [ %q.next, %second ]
  %other = load i32, ptr %q
  %q.next = getelementptr inbounds i32, ptr %q, i64 -1
  %again = icmp ne i32 %other, 0
  br i1 %again, label %second, label %done, !dbg !25
done:
  ret void, !dbg !25
}

; Where the loop is left for good the round is written down: 0 if that was not from the loop.
; CHECK-LABEL: define void @checked
; CHECK: fails:
; CHECK-NEXT: [[AT_START:%.*]] = phi i64 [ %from, %loop ], [ 0, %0 ]
; CHECK-NEXT: [[AT:%.*]] = phi i64 [ %i, %loop ], [ 0, %0 ]
; CHECK-NEXT: [[DISTANCE:%.*]] = sub i64 [[AT]], [[AT_START]]
; CHECK-NEXT: [[ROUND:%.*]] = udiv i64 [[DISTANCE]], 2
; CHECK-NEXT: store volatile i64 [[ROUND]], ptr [[WRITTEN:%.*]], align
; CHECK-NEXT: #dbg_value(ptr [[WRITTEN]], !{{[0-9]+}}, !DIExpression(DW_OP_deref)
; CHECK-NEXT: call void @abort()
define void @checked(i1 %wrong, i64 %from, i64 %end) !dbg !17 {
  br i1 %wrong, label %fails, label %loop, !dbg !24
loop:
  %i = phi i64 [ %from, %0 ], [ %next, %latch ]
  %bad = icmp eq i64 %i, %end
  br i1 %bad, label %fails, label %latch, !dbg !24
latch:
  %next = add i64 %i, 2
  br label %loop, !dbg !24
fails:
  call void @abort(), !dbg !24
  unreachable, !dbg !24
}
declare void @abort() noreturn

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!1}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !2, isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !{i32 2, !"Debug Info Version", i32 3}
!2 = !DIFile(filename: "loops.c", directory: ".")
!3 = !DISubroutineType(types: !{null})
!4 = !DIBasicType(name: "long", size: 64, encoding: DW_ATE_signed)
!10 = distinct !DISubprogram(name: "described", file: !2, line: 1, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!11 = !DILocalVariable(name: "i", scope: !10, file: !2, line: 2, type: !4)
!12 = !DILocalVariable(name: "step", scope: !10, file: !2, line: 2, type: !4)
!14 = distinct !DISubprogram(name: "undescribed", file: !2, line: 10, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!15 = distinct !DISubprogram(name: "pointer", file: !2, line: 20, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!16 = distinct !DISubprogram(name: "list", file: !2, line: 30, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!17 = distinct !DISubprogram(name: "checked", file: !2, line: 40, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!18 = distinct !DISubprogram(name: "one_after_another", file: !2, line: 50, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!20 = !DILocation(line: 3, scope: !10)
!21 = !DILocation(line: 11, scope: !14)
!22 = !DILocation(line: 21, scope: !15)
!23 = !DILocation(line: 31, scope: !16)
!24 = !DILocation(line: 41, scope: !17)
!25 = !DILocation(line: 51, scope: !18)
