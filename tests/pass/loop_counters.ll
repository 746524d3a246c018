; SPDX-License-Identifier: Apache-2.0
; VARIANT: production
; A loop is counted only where nothing in it moves by a constant.
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
; CHECK-NEXT: #dbg_value(i32 %i, ![[COUNT:[0-9]+]], !DIExpression(DW_OP_constu, 8, DW_OP_minus, DW_OP_constu, 4294967295, DW_OP_and, DW_OP_constu, 2, DW_OP_shr, DW_OP_constu, 0, DW_OP_minus, DW_OP_stack_value)
; CHECK-NEXT: %next = add i32 %i, 4
; CHECK-NEXT: #dbg_value(i32 %next, ![[COUNT]], !DIExpression({{.*}}DW_OP_constu, 1, DW_OP_minus, DW_OP_stack_value)
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
; CHECK-NEXT: #dbg_value(!DIArgList(ptr %p, ptr [[START]]), ![[POINTER:[0-9]+]], !DIExpression(DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_deref, DW_OP_swap, DW_OP_minus, DW_OP_constu, 2, DW_OP_shr, {{.*}})
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

; Downwards by a variable, which no addition is; the program's own variables tell the rounds apart.
; CHECK-LABEL: define void @strides_down
; CHECK-NOT: __heddle
; CHECK-NOT: heddle.
; CHECK: ret void
define void @strides_down(i32 %from, i32 %step, i32 %end) !dbg !30 {
    #dbg_value(i32 %step, !32, !DIExpression(), !33)
  br label %loop, !dbg !33
loop:
  %i = phi i32 [ %from, %0 ], [ %next, %loop ]
    #dbg_value(i32 %i, !31, !DIExpression(), !33)
  %next = sub i32 %i, %step
  %more = icmp sgt i32 %next, %end
  br i1 %more, label %loop, label %done, !dbg !33
done:
  ret void, !dbg !33
}

; Two ways round (a continue), each with an addition of its own.
; CHECK-LABEL: define void @two_ways
; CHECK-NOT: heddle.round
; CHECK: loop:
; CHECK-NEXT: %p = phi ptr
; CHECK-NEXT: #dbg_value(!DIArgList(ptr %p,
; CHECK: %here = getelementptr
; CHECK-NEXT: #dbg_value(!DIArgList(ptr %here,
; CHECK: %there = getelementptr
; CHECK-NEXT: #dbg_value(!DIArgList(ptr %there,
; CHECK: ret void
define void @two_ways(ptr %from) !dbg !34 {
  br label %loop, !dbg !35
loop:
  %p = phi ptr [ %from, %0 ], [ %here, %short ], [ %there, %long ]
  %value = load i32, ptr %p
  %small = icmp slt i32 %value, 0
  br i1 %small, label %short, label %long, !dbg !35
short:
  %here = getelementptr inbounds i8, ptr %p, i64 4
  br label %loop, !dbg !35
long:
  %there = getelementptr inbounds i32, ptr %p, i64 1
  %more = icmp ne i32 %value, 0
  br i1 %more, label %loop, label %done, !dbg !35
done:
  ret void, !dbg !35
}

; A step that soon overflows 32 bits: not divided by, which would be wrong then, but multiplied by
; its inverse (of the size of the step: downwards it is the smaller one).
; CHECK-LABEL: define void @overflows
; CHECK: #dbg_value(i32 %sum, !{{[0-9]+}}, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_minus, DW_OP_constu, 4294967295, DW_OP_and, DW_OP_constu, 3954393975, DW_OP_mul, DW_OP_constu, 4294967295, DW_OP_and, DW_OP_constu, 0, DW_OP_minus, DW_OP_stack_value)
; CHECK: ret void
define void @overflows(i32 %end) !dbg !36 {
  br label %loop, !dbg !37
loop:
  %sum = phi i32 [ 0, %0 ], [ %next, %loop ]
  %next = add i32 %sum, -1640531527
  %more = icmp ne i32 %next, %end
  br i1 %more, label %loop, label %done, !dbg !37
done:
  ret void, !dbg !37
}

; Eight bits are soon the same again: counted.
; CHECK-LABEL: define void @narrow
; CHECK: loop:
; CHECK-NEXT: %heddle.round = phi i64
define void @narrow(ptr %at) !dbg !38 {
  br label %loop, !dbg !39
loop:
  %byte = phi i8 [ 0, %0 ], [ %next, %loop ]
  %next = add i8 %byte, 1
  %value = load volatile i32, ptr %at
  %more = icmp ne i32 %value, 0
  br i1 %more, label %loop, label %done, !dbg !39
done:
  ret void, !dbg !39
}

; Nor does a bit that is turned round tell rounds apart, whatever the program calls it.
; CHECK-LABEL: define void @turns
; CHECK: loop:
; CHECK-NEXT: %heddle.round = phi i64
define void @turns(ptr %at) !dbg !46 {
  br label %loop, !dbg !47
loop:
  %odd = phi i1 [ false, %0 ], [ %even, %loop ]
    #dbg_value(i1 %odd, !48, !DIExpression(), !47)
  %even = xor i1 %odd, true
  %value = load volatile i32, ptr %at
  %more = icmp ne i32 %value, 0
  br i1 %more, label %loop, label %done, !dbg !47
done:
  ret void, !dbg !47
}

; Nothing to go by: counted, with no store, and needed behind the loop.
; CHECK-LABEL: define void @list
; CHECK-NOT: store
; CHECK: loop:
; CHECK-NEXT: [[ROUND:%.*]] = phi i64 [ [[BEGUN:%.*]], %loop ], [ 0, %0 ]
; CHECK: #dbg_value(i64 [[ROUND]], ![[LIST:[0-9]+]],
; CHECK-NEXT: [[BEGUN]] = add i64 [[ROUND]], 1
; CHECK-NEXT: #dbg_value(i64 [[BEGUN]], ![[LIST]], !DIExpression({{.*}}DW_OP_constu, 1, DW_OP_minus, DW_OP_stack_value)
; CHECK-NOT: asm
; CHECK-NOT: store
; CHECK: done:
; CHECK-NEXT: [[LEFT:%.*]] = phi i64 [ [[BEGUN]], %loop ]
; CHECK-NEXT: call void asm sideeffect "", "r"(i64 [[LEFT]]) #[[NEED:[0-9]+]]
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

; The outer one of two such loops counts in memory: registers are for the inner one.
; CHECK-LABEL: define void @lists
; CHECK: [[COUNT:%.*]] = alloca i64
; CHECK-NEXT: #dbg_declare(ptr [[COUNT]],
; CHECK-NEXT: store volatile i64 -1, ptr [[COUNT]]
; CHECK: outer:
; CHECK-NOT: phi i64
; CHECK: [[AT:%.*]] = load volatile i64, ptr [[COUNT]]
; CHECK-NEXT: [[NOW:%.*]] = add i64 [[AT]], 1
; CHECK-NEXT: store volatile i64 [[NOW]], ptr [[COUNT]]
; CHECK: inner:
; CHECK-NEXT: %heddle.round = phi i64
; CHECK-NOT: store
; CHECK: ret void
define void @lists(ptr %first) !dbg !40 {
  br label %outer, !dbg !41
outer:
  %node = phi ptr [ %first, %0 ], [ %following, %behind ]
  %elements = load ptr, ptr %node
  br label %inner, !dbg !41
inner:
  %element = phi ptr [ %elements, %outer ], [ %another, %inner ]
  %another = load ptr, ptr %element
  %again = icmp ne ptr %another, null
  br i1 %again, label %inner, label %behind, !dbg !41
behind:
  %link = getelementptr i8, ptr %node, i64 8
  %following = load ptr, ptr %link
  %more = icmp ne ptr %following, null
  br i1 %more, label %outer, label %done, !dbg !41
done:
  ret void, !dbg !41
}

; Where nothing lies behind the loop, the count is needed in it.
; CHECK-LABEL: define void @endless
; CHECK: loop:
; CHECK: [[BEGUN:%.*]] = add i64
; CHECK: call void asm sideeffect "", "r"(i64 [[BEGUN]])
define void @endless(ptr %at) !dbg !42 {
  br label %loop, !dbg !43
loop:
  %value = load volatile i32, ptr %at
  br label %loop, !dbg !43
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

; A way past the loop: what it begins with is stored only if it is entered. So is a count in memory,
; which is what a long loop gets.
; CHECK-LABEL: define void @way_past
; CHECK: br i1 %enters, label %[[BEGINS:.*]], label %done
; CHECK: [[BEGINS]]:
; CHECK-NEXT: ptrtoint
; CHECK-NEXT: store volatile i64
; CHECK-NEXT: br label %loop
; CHECK: loop:
; CHECK-NOT: store
; CHECK: ret void
define void @way_past(i1 %enters, ptr %from) !dbg !50 {
  br i1 %enters, label %loop, label %done, !dbg !51
loop:
  %p = phi ptr [ %from, %0 ], [ %next, %loop ]
  %value = load i32, ptr %p
  %next = getelementptr inbounds i32, ptr %p, i64 1
  %more = icmp ne i32 %value, 0
  br i1 %more, label %loop, label %done, !dbg !51
done:
  ret void, !dbg !51
}

; CHECK-LABEL: define void @long_rounds
; CHECK: br i1 %enters, label %[[BEGINS:.*]], label %done
; CHECK: [[BEGINS]]:
; CHECK-NEXT: store volatile i64 -1, ptr [[COUNT:%.*]], align
; CHECK: loop:
; CHECK-NOT: heddle.round
; CHECK: load volatile i64, ptr [[COUNT]]
; CHECK: ret void
define void @long_rounds(i1 %enters, ptr %first, i64 %by) !dbg !52 {
  br i1 %enters, label %loop, label %done, !dbg !53
loop:
  %node = phi ptr [ %first, %0 ], [ %following, %loop ]
  %v0 = mul i64 %by, %by
  %v1 = mul i64 %v0, %by
  %v2 = mul i64 %v1, %by
  %v3 = mul i64 %v2, %by
  %v4 = mul i64 %v3, %by
  %v5 = mul i64 %v4, %by
  %v6 = mul i64 %v5, %by
  %v7 = mul i64 %v6, %by
  %v8 = mul i64 %v7, %by
  %v9 = mul i64 %v8, %by
  %v10 = mul i64 %v9, %by
  %v11 = mul i64 %v10, %by
  %v12 = mul i64 %v11, %by
  %v13 = mul i64 %v12, %by
  %v14 = mul i64 %v13, %by
  %v15 = mul i64 %v14, %by
  %v16 = mul i64 %v15, %by
  %v17 = mul i64 %v16, %by
  %v18 = mul i64 %v17, %by
  %v19 = mul i64 %v18, %by
  %v20 = mul i64 %v19, %by
  %v21 = mul i64 %v20, %by
  store i64 %v21, ptr %first
  %following = load ptr, ptr %node
  %more = icmp ne ptr %following, null
  br i1 %more, label %loop, label %done, !dbg !53
done:
  ret void, !dbg !53
}

; Where the loop is left for good the round is written down: 0 if that was not from the loop.
; CHECK-LABEL: define void @checked
; CHECK: fails:
; CHECK-NEXT: [[AT_START:%.*]] = phi i64 [ %from, %loop ], [ 0, %0 ]
; CHECK-NEXT: [[AT:%.*]] = phi i64 [ %i, %loop ], [ 0, %0 ]
; CHECK-NEXT: [[DISTANCE:%.*]] = sub i64 [[AT]], [[AT_START]]
; CHECK-NEXT: store volatile i64 [[DISTANCE]], ptr [[WRITTEN:%.*]], align
; CHECK-NEXT: #dbg_value(ptr [[WRITTEN]], !{{[0-9]+}}, !DIExpression(DW_OP_deref, DW_OP_constu, 1, DW_OP_shr, DW_OP_constu, 0, DW_OP_minus, DW_OP_stack_value)
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

; The same of a loop that is counted; the first round is begun before the count is 1.
; CHECK-LABEL: define void @checked_list
; CHECK: [[BEGUN:%.*]] = add i64 %heddle.round, 1
; CHECK: fails:
; CHECK-NEXT: [[AT_START:%.*]] = phi i64 [ 0, %loop ], [ 0, %0 ]
; CHECK-NEXT: [[AT:%.*]] = phi i64 [ [[BEGUN]], %loop ], [ 1, %0 ]
; CHECK-NEXT: [[DISTANCE:%.*]] = sub i64 [[AT]], [[AT_START]]
; CHECK-NEXT: store volatile i64 [[DISTANCE]], ptr [[WRITTEN:%.*]], align
; CHECK-NEXT: #dbg_value(ptr [[WRITTEN]], !{{[0-9]+}}, !DIExpression(DW_OP_deref, DW_OP_constu, 1, DW_OP_minus, DW_OP_stack_value)
; CHECK-NEXT: call void @abort()
define void @checked_list(i1 %wrong, ptr %first) !dbg !44 {
  br i1 %wrong, label %fails, label %loop, !dbg !45
loop:
  %node = phi ptr [ %first, %0 ], [ %following, %latch ]
  %following = load ptr, ptr %node
  %bad = icmp eq ptr %following, null
  br i1 %bad, label %fails, label %latch, !dbg !45
latch:
  %done = icmp eq ptr %following, %first
  br i1 %done, label %end, label %loop, !dbg !45
end:
  ret void, !dbg !45
fails:
  call void @abort(), !dbg !45
  unreachable, !dbg !45
}

; That a value is needed touches none of the program's memory.
; CHECK: attributes #[[NEED]] = { nounwind willreturn memory(inaccessiblemem: readwrite) }

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
!30 = distinct !DISubprogram(name: "strides_down", file: !2, line: 60, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!33 = !DILocation(line: 61, scope: !30)
!34 = distinct !DISubprogram(name: "two_ways", file: !2, line: 70, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!35 = !DILocation(line: 71, scope: !34)
!36 = distinct !DISubprogram(name: "overflows", file: !2, line: 80, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!37 = !DILocation(line: 81, scope: !36)
!38 = distinct !DISubprogram(name: "narrow", file: !2, line: 90, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!39 = !DILocation(line: 91, scope: !38)
!40 = distinct !DISubprogram(name: "lists", file: !2, line: 100, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!41 = !DILocation(line: 101, scope: !40)
!42 = distinct !DISubprogram(name: "endless", file: !2, line: 110, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!43 = !DILocation(line: 111, scope: !42)
!44 = distinct !DISubprogram(name: "checked_list", file: !2, line: 120, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!45 = !DILocation(line: 121, scope: !44)
!46 = distinct !DISubprogram(name: "turns", file: !2, line: 130, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!47 = !DILocation(line: 131, scope: !46)
!48 = !DILocalVariable(name: "odd", scope: !46, file: !2, line: 130, type: !4)
!31 = !DILocalVariable(name: "i", scope: !30, file: !2, line: 60, type: !4)
!32 = !DILocalVariable(name: "step", scope: !30, file: !2, line: 60, type: !4)
!50 = distinct !DISubprogram(name: "way_past", file: !2, line: 140, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!51 = !DILocation(line: 141, scope: !50)
!52 = distinct !DISubprogram(name: "long_rounds", file: !2, line: 150, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!53 = !DILocation(line: 151, scope: !52)
