; SPDX-License-Identifier: Apache-2.0
; Places: function and line counted from it, inlined ones with the function they ended up in. No
; debug information: the function alone.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK: @heddle.sites = private constant [{{[0-9]+}} x i8] c"HEDS
; CHECK-SAME: \00main\00_ZN12_GLOBAL__N_14bareIiEEiv\00/src/t.cpp\00main+2\00
; CHECK-SAME: Queue::push\00Queue::push+3@main\00main+0\00main+4\00outside\00bare\00bare+0\00
; CHECK-SAME: section "heddle_sites", align 8
@g = global i32 0

declare void @_Z7outsidei(i32)

define void @main() !dbg !5 {
  %a = load i32, ptr @g, !dbg !8
  %b = load i32, ptr @g, !dbg !8
  store i32 1, ptr @g, !dbg !9
  ; CHECK: call preserve_mostcc void @__heddle_store4(ptr @g, i32 2, i32 19) #{{[0-9]+}}, !dbg ![[INLINED:[0-9]+]]
  store i32 2, ptr @g, !dbg !9
  ; CHECK: call preserve_mostcc void @__heddle_store4(ptr @g, i32 3, i32 20) #{{[0-9]+}}, !dbg ![[NOWHERE:[0-9]+]]
  store i32 3, ptr @g
  call void @_Z7outsidei(i32 1), !dbg !11
  ret void, !dbg !8
}

define i32 @_ZN12_GLOBAL__N_14bareIiEEiv() {
  %v = load i32, ptr @g
  ret i32 %v
}

; Hooks take over the place of what they replace; its discriminator is the instruction's number.
; CHECK-DAG: ![[NOWHERE]] = !DILocation(line: 10, scope: ![[FIFTH:[0-9]+]])
; CHECK-DAG: ![[FIFTH]] = !DILexicalBlockFile({{.*}}discriminator: 5)
; CHECK-DAG: ![[INLINED]] = !DILocation(line: 33, column: 7, scope: ![[FOURTH:[0-9]+]], inlinedAt:
; CHECK-DAG: ![[FOURTH]] = !DILexicalBlockFile({{.*}}discriminator: 4)
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "./t.cpp", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !4)
!4 = !{}
!5 = distinct !DISubprogram(name: "main", scope: !1, file: !1, line: 10, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!6 = distinct !DISubprogram(name: "push", linkageName: "_ZN5QueueIiE4pushERKi", scope: !1, file: !1, line: 30, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!8 = !DILocation(line: 12, column: 3, scope: !5)
!9 = !DILocation(line: 33, column: 7, scope: !6, inlinedAt: !10)
!10 = distinct !DILocation(line: 13, column: 3, scope: !5)
!11 = !DILocation(line: 14, column: 3, scope: !5)
