; SPDX-License-Identifier: Apache-2.0
; VARIANT: full+repeats+depends
; Iterations can be left out of a loop whose end can be reached without its body.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

declare void @work(i32)
declare i32 @more()
declare i32 @measure()

; CHECK-LABEL: define void @counted
; CHECK: loop:
; CHECK-NEXT: %i = phi i32 [ 0, %0 ], [ %next, %heddle.end ]
; CHECK-NEXT: %[[N:.*]] = call i32 @__heddle_repeat_begin(i32 0, i32 [[SITE:[0-9]+]])
; CHECK-NEXT: %[[GO:.*]] = icmp ne i32 %[[N]], 0
; CHECK-NEXT: br i1 %[[GO]], label %heddle.body, label %heddle.end
; CHECK: heddle.body:
; CHECK: call void @work(i32 %i)
; CHECK: call void @__heddle_repeat_end(i32 %[[N]], i32 [[SITE]])
; CHECK-NEXT: br label %heddle.end
; CHECK: heddle.end:
; CHECK-NEXT: %next = add i32 %i, 1
; CHECK-NEXT: %again = icmp slt i32 %next, %end
; CHECK-NEXT: br i1 %again, label %loop, label %done
define void @counted(i32 %end) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  call void @work(i32 %i)
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %end
  br i1 %again, label %loop, label %done
done:
  ret void
}

; What drives the loop is computed at its end if the body has computed it before; what the body
; adds up stays as it was, and what is used behind the loop is that of the last body.
; CHECK-LABEL: define i32 @sums
; CHECK: loop:
; CHECK-DAG: %heddle.before = phi i32 [ %[[LAST:heddle.kept[0-9]*]], %heddle.end ], [ 0, %0 ]
; CHECK-DAG: %sum = phi i32 [ 0, %0 ], [ %[[SUM:heddle.kept[0-9]*]], %heddle.end ]
; CHECK: heddle.end:
; CHECK-DAG: %[[LAST]] = phi i32 [ %taken, %rest ], [ %heddle.before, %loop ]
; CHECK-DAG: %[[SUM]] = phi i32 [ %added, %rest ], [ %sum, %loop ]
; CHECK: %[[NEXT:.*]] = add i32 %i, 1
; CHECK-NEXT: %again = icmp slt i32 %[[NEXT]], 9
; CHECK: %result = mul i32 %[[SUM]], %[[LAST]]
define i32 @sums(i1 %odd) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %rest ]
  %sum = phi i32 [ 0, %0 ], [ %added, %rest ]
  %next = add i32 %i, 1
  call void @work(i32 %next)
  br i1 %odd, label %half, label %rest
half:
  call void @work(i32 %sum)
  br label %rest
rest:
  %taken = call i32 @measure()
  %added = add i32 %sum, %taken
  %again = icmp slt i32 %next, 9
  br i1 %again, label %loop, label %done
done:
  %result = mul i32 %added, %taken
  ret i32 %result
}

; Along a list, and up to a limit that is read again each time: reading at the end is no obstacle.
; CHECK-LABEL: define void @list
; CHECK: call i32 @__heddle_repeat_begin
; CHECK: heddle.end:
; CHECK: call preserve_mostcc i64 @__heddle_load8
; CHECK: ret void
define void @list(ptr %head) {
  br label %loop
loop:
  %node = phi ptr [ %head, %0 ], [ %next, %loop ]
  call void @work(i32 1)
  %next = load ptr, ptr %node
  %more = icmp ne ptr %next, null
  br i1 %more, label %loop, label %done
done:
  ret void
}

; A limit that is read each time is not read where it is known that the loop goes on, or is over:
; left early only where nobody behind it asks how far it came (the 1 and the 0).
; CHECK-LABEL: define void @limit
; CHECK: %heddle.again = phi i32 [ 1, %heddle.known ], [ 0, %0 ]
; CHECK: call i32 @__heddle_repeat_begin(i32 %heddle.again,
; CHECK: heddle.end:
; CHECK-NEXT: %next = add i32 %i, 1
; CHECK-NEXT: %[[ANSWER:.*]] = call i32 @__heddle_repeat_goes_on(i32 1, i32 [[SITE:[0-9]+]])
; CHECK-NEXT: %[[GOES:.*]] = icmp eq i32 %[[ANSWER]], 1
; CHECK-NEXT: %[[ASK:.*]] = icmp eq i32 %[[ANSWER]], 0
; CHECK-NEXT: br i1 %[[ASK]], label %heddle.ask, label %heddle.known
; CHECK: heddle.ask:
; CHECK: call preserve_mostcc i32 @__heddle_load4
; CHECK: %again = icmp slt i32 %next
; CHECK-NEXT: br label %heddle.known
; CHECK: heddle.known:
; CHECK-NEXT: %heddle.goes = phi i1 [ %[[GOES]], %heddle.end ], [ %again, %heddle.ask ]
; CHECK-NEXT: br i1 %heddle.goes, label %loop, label %done
define void @limit(ptr %limit) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  call void @work(i32 %i)
  %next = add i32 %i, 1
  %end = load i32, ptr %limit
  %again = icmp slt i32 %next, %end
  br i1 %again, label %loop, label %done
done:
  ret void
}

; CHECK-LABEL: define i32 @how_far
; CHECK: call i32 @__heddle_repeat_goes_on(i32 0,
; CHECK: %[[OVER:.*]] = icmp eq i32 %{{.*}}, 1
; CHECK-NEXT: %[[LEAVES:.*]] = xor i1 %[[OVER]], true
; CHECK: %heddle.goes = phi i1 [ %[[LEAVES]], %heddle.end ], [ %over, %heddle.ask ]
; CHECK-NEXT: br i1 %heddle.goes, label %done, label %loop
define i32 @how_far(ptr %limit) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  call void @work(i32 %i)
  %next = add i32 %i, 1
  %end = load i32, ptr %limit
  %over = icmp sge i32 %next, %end
  br i1 %over, label %done, label %loop
done:
  ret i32 %next
}

; Beyond a limit that has to be met exactly it would go on for ever.
; CHECK-LABEL: define void @exact
; CHECK-NOT: __heddle_repeat_goes_on
; CHECK: ret void
define void @exact(ptr %limit) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  call void @work(i32 %i)
  %next = add i32 %i, 1
  %end = load i32, ptr %limit
  %again = icmp ne i32 %next, %end
  br i1 %again, label %loop, label %done
done:
  ret void
}

; Whether it goes on depends on what it does; it is left in the middle; it does nothing.
; CHECK-LABEL: define void @others
; CHECK-NOT: __heddle_repeat
; CHECK: ret void
define void @others(i32 %end) {
  br label %asks
asks:
  call void @work(i32 1)
  %answer = call i32 @more()
  %goes_on = icmp ne i32 %answer, 0
  br i1 %goes_on, label %asks, label %breaks
breaks:
  %i = phi i32 [ 0, %asks ], [ %next, %second ]
  call void @work(i32 %i)
  %early = icmp eq i32 %i, %end
  br i1 %early, label %idle, label %second
second:
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, 100
  br i1 %again, label %breaks, label %idle
idle:
  %k = phi i32 [ 0, %breaks ], [ 0, %second ], [ %k.next, %idle ]
  %k.next = add i32 %k, 1
  %still = icmp slt i32 %k.next, %end
  br i1 %still, label %idle, label %done
done:
  ret void
}

; CHECK-LABEL: define void @nested
; CHECK-COUNT-2: call i32 @__heddle_repeat_begin
; CHECK: ret void
define void @nested(i32 %end) {
  br label %outer
outer:
  %i = phi i32 [ 0, %0 ], [ %i.next, %last ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  call void @work(i32 %j)
  %j.next = add i32 %j, 1
  %j.again = icmp slt i32 %j.next, %end
  br i1 %j.again, label %inner, label %last
last:
  %i.next = add i32 %i, 1
  %i.again = icmp slt i32 %i.next, %end
  br i1 %i.again, label %outer, label %done
done:
  ret void
}

; An exception leaves the loop, which counts as no break: the iteration that it was thrown in ends
; where it is caught. What comes there from elsewhere ends none.
; CHECK-LABEL: define i32 @throwing
; CHECK: %[[N:.*]] = call i32 @__heddle_repeat_begin(i32 0, i32 [[SITE:[0-9]+]])
; CHECK: %taken = call i32 @measure()
; CHECK: invoke void @may_throw(i32 %taken)
; CHECK: caught:
; CHECK-NEXT: %heddle.thrown = phi i32 [ 0, %behind ], [ %[[N]], %heddle.body ]
; CHECK-NEXT: %which = phi i32 [ %taken, %heddle.body ], [ 7, %behind ]
; CHECK-NEXT: %e = landingpad
; CHECK-NEXT: cleanup
; CHECK-NEXT: call void @__heddle_repeat_end(i32 %heddle.thrown, i32 [[SITE]])
; CHECK: ret i32 %which
declare void @may_throw(i32)
declare i32 @__gxx_personality_v0(...)
define i32 @throwing(i32 %end) personality ptr @__gxx_personality_v0 {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %rest ]
  %taken = call i32 @measure()
  invoke void @may_throw(i32 %taken) to label %rest unwind label %caught
rest:
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %end
  br i1 %again, label %loop, label %behind
behind:
  invoke void @may_throw(i32 1) to label %done unwind label %caught
done:
  ret i32 0
caught:
  %which = phi i32 [ %taken, %loop ], [ 7, %behind ]
  %e = landingpad { ptr, i32 } cleanup
  ret i32 %which
}

; Two places that are reached from the body alone see its values, also where they come together.
; CHECK-LABEL: define i32 @caught_twice
; CHECK: heddle.body:
; CHECK: %taken = call i32 @measure()
; CHECK: together:
; CHECK-NEXT: ret i32 %taken
define i32 @caught_twice(i32 %end) personality ptr @__gxx_personality_v0 {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %rest ]
  %taken = call i32 @measure()
  invoke void @may_throw(i32 %taken) to label %more unwind label %first
more:
  invoke void @may_throw(i32 2) to label %rest unwind label %second
rest:
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %end
  br i1 %again, label %loop, label %done
done:
  ret i32 0
first:
  %e = landingpad { ptr, i32 } cleanup
  br label %together
second:
  %f = landingpad { ptr, i32 } cleanup
  br label %together
together:
  ret i32 %taken
}

; A throw of the loop's own, of what it has to make first, is none either.
; CHECK-LABEL: define void @throws
; CHECK: call i32 @__heddle_repeat_begin(i32 0, i32 [[SITE:[0-9]+]])
; CHECK: caught:
; CHECK: call void @__heddle_repeat_end(i32 %heddle.thrown, i32 [[SITE]])
define void @throws(i32 %end, i1 %bad) personality ptr @__gxx_personality_v0 {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %rest ]
  call void @work(i32 %i)
  br i1 %bad, label %make, label %rest
make:
  %made = call i32 @measure()
  br label %throw
throw:
  invoke void @may_throw(i32 %made) to label %never unwind label %caught
never:
  unreachable
rest:
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %end
  br i1 %again, label %loop, label %done
done:
  ret void
caught:
  %e = landingpad { ptr, i32 } cleanup
  ret void
}

; A break is a break, also behind something else.
; CHECK-LABEL: define void @breaks
; CHECK-NOT: __heddle_repeat
; CHECK: ret void
define void @breaks(i32 %end, i1 %enough) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %rest ]
  call void @work(i32 %i)
  br i1 %enough, label %first, label %rest
first:
  call void @work(i32 0)
  br label %done
rest:
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %end
  br i1 %again, label %loop, label %done
done:
  ret void
}
