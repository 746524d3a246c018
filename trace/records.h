// SPDX-License-Identifier: Apache-2.0
//
// One record of a trace to bytes and back, encoder and decoder side by side so that they change
// together; FORMAT.md, "Chunks". Decoders check every index against the tables already read, so
// that whoever holds a Trace may use thread, site, object and holder indices unchecked (not the
// thread indices that some kinds of event carry in value and aux).
#pragma once

#include "trace/bytes.h"
#include "trace/trace.h"

namespace heddle::trace {

void put(ByteWriter& out, const Header& header);
void put(ByteWriter& out, const Thread& thread);
void put(ByteWriter& out, const Site& site);
void put(ByteWriter& out, const Object& object);
void put(ByteWriter& out, const Stack& stack);
void put(ByteWriter& out, const Outcome& outcome);

Header get_header(ByteReader& in);
Thread get_thread(ByteReader& in, const Trace& so_far);
Site get_site(ByteReader& in);
Object get_object(ByteReader& in);
Stack get_stack(ByteReader& in, const Trace& so_far);
Outcome get_outcome(ByteReader& in, const Trace& so_far);

/// Neighbouring events are alike; site, object and offset are stored as differences to the previous
/// event of the same chunk. One codec per chunk: a chunk can be read without the ones before it.
class EventCodec {
 public:
  void put(ByteWriter& out, const Event& event);
  Event get(ByteReader& in, const Trace& so_far);

 private:
  Event previous_;
};

/// As events; site and event are differences to the previous step of the same chunk.
class StepCodec {
 public:
  void put(ByteWriter& out, const Step& step);
  Step get(ByteReader& in, const Trace& so_far);

 private:
  Step previous_;
};

/// Throws MalformedBytes when an index points outside its table or a kind is unknown.
void check(const Event& event, const Trace& tables);
void check(const Step& step, const Trace& tables);
void check(const Stack& stack, const Trace& tables);
void check(const Outcome& outcome, const Trace& tables);
void check(const Thread& thread, ThreadId index);

}  // namespace heddle::trace
