; SPDX-License-Identifier: Apache-2.0
; What the compiler had concluded about functions does not hold once they call hooks; about functions
; outside it still does.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK: define i32 @peek(ptr %p) #[[PLAIN:[0-9]+]]
define i32 @peek(ptr nocapture noalias readonly %p) #0 {
  %v = load i32, ptr %p
  ret i32 %v
}

; CHECK: define i32 @twice(ptr %p) #[[PLAIN]]
; CHECK: call i32 @peek(ptr %p) #[[PLAIN]]
; CHECK: call i64 @strlen(ptr nocapture readonly %p) #[[OUTSIDE:[0-9]+]]
define i32 @twice(ptr nocapture readonly %p) #0 {
  %a = call i32 @peek(ptr nocapture readonly %p) #1
  %n = call i64 @strlen(ptr nocapture readonly %p) #1
  ret i32 %a
}

declare i64 @strlen(ptr)

; CHECK-DAG: attributes #[[PLAIN]] = { nounwind }
; CHECK-DAG: attributes #[[OUTSIDE]] = { nounwind willreturn memory(argmem: read) }
attributes #0 = { nounwind willreturn nosync nofree memory(argmem: read) }
attributes #1 = { nounwind willreturn memory(argmem: read) }
