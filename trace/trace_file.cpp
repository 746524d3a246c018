// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_file.h"

#include <fmt/format.h>

#include <sstream>

#include "base/error.h"
#include "trace/chunk.h"
#include "trace/file.h"
#include "trace/records.h"

namespace heddle::trace {
namespace {

// Small enough that a cut-off file loses little, large enough to compress well.
constexpr std::size_t kFlushBytes = 256 * 1024;

/// Writes `items` as chunks of `type`; encode(writer, item, first_of_chunk).
template <typename Items, typename Encode>
void write_table(ChunkWriter& out, ChunkType type, const Items& items, Encode encode) {
  ByteWriter bytes;
  for (const auto& item : items) {
    bool first = bytes.size() == 0;
    encode(bytes, item, first);
    if (bytes.size() >= kFlushBytes) {
      out.write(type, bytes.bytes());
      bytes.clear();
    }
  }
  if (bytes.size() != 0) out.write(type, bytes.bytes());
}

void check_indices(const Trace& trace) {
  try {
    for (ThreadId i = 0; i < trace.threads.size(); ++i) check(trace.threads[i], i);
    for (const Event& event : trace.events) check(event, trace);
    for (const Step& step : trace.steps) check(step, trace);
    for (const Stack& stack : trace.stacks) check(stack, trace);
    check(trace.outcome, trace);
  } catch (const MalformedBytes& problem) {
    throw defect(fmt::format("a trace that cannot be written: {}", problem.what()));
  }
}

void read_chunk(const Chunk& chunk, Trace& trace, bool& ended) {
  ByteReader in(chunk.bytes);
  switch (chunk.type) {
    case ChunkType::Header: trace.header = get_header(in); break;
    case ChunkType::Threads:
      while (!in.at_end()) trace.threads.push_back(get_thread(in, trace));
      break;
    case ChunkType::Sites:
      while (!in.at_end()) trace.sites.push_back(get_site(in));
      break;
    case ChunkType::Objects:
      while (!in.at_end()) trace.objects.push_back(get_object(in));
      break;
    case ChunkType::Events: {
      EventCodec codec;
      while (!in.at_end()) trace.events.push_back(codec.get(in, trace));
      break;
    }
    case ChunkType::Steps: {
      trace.steps_lost = in.varint();
      StepCodec codec;
      while (!in.at_end()) trace.steps.push_back(codec.get(in, trace));
      break;
    }
    case ChunkType::Stacks:
      while (!in.at_end()) trace.stacks.push_back(get_stack(in, trace));
      break;
    case ChunkType::Outcome: trace.outcome = get_outcome(in, trace); break;
    case ChunkType::Footer:
      if (in.varint() != trace.events.size()) throw MalformedBytes("events are missing");
      ended = true;
      break;
  }
  if (!in.at_end()) throw MalformedBytes("a chunk holds more than it should");
}

constexpr ChunkType kNoChunk{};

/// Place of a chunk in the file: some came to the format later than what follows them.
unsigned rank(ChunkType type) {
  constexpr unsigned kEvents = static_cast<unsigned>(ChunkType::Events);
  if (type == ChunkType::Steps) return kEvents * 4 + 1;
  if (type == ChunkType::Stacks) return kEvents * 4 + 2;
  return static_cast<unsigned>(type) * 4;
}

/// Header, outcome and footer come exactly once; the others in any number of chunks, also 0.
bool may_follow(ChunkType last, ChunkType type) {
  switch (type) {
    case ChunkType::Header: return last == kNoChunk;
    case ChunkType::Footer: return last == ChunkType::Outcome;
    case ChunkType::Outcome: return last != kNoChunk && rank(last) < rank(type);
    default: return last != kNoChunk && rank(last) <= rank(type);
  }
}

/// Each chunk begins with how many steps were lost in all.
void write_steps(ChunkWriter& out, const Trace& trace) {
  ByteWriter bytes;
  StepCodec codec;
  const auto begin = [&] {
    bytes.clear();
    bytes.varint(trace.steps_lost);
    codec = StepCodec();
  };
  begin();
  bool is_pending = trace.steps_lost != 0;
  for (const Step& step : trace.steps) {
    codec.put(bytes, step);
    is_pending = bytes.size() < kFlushBytes;
    if (is_pending) continue;
    out.write(ChunkType::Steps, bytes.bytes());
    begin();
  }
  if (is_pending) out.write(ChunkType::Steps, bytes.bytes());
}

}  // namespace

void write_trace(const Trace& trace, std::ostream& out) {
  check_indices(trace);
  ChunkWriter chunks(out);
  ByteWriter bytes;
  put(bytes, trace.header);
  chunks.write(ChunkType::Header, bytes.bytes());

  auto plain = [](ByteWriter& to, const auto& item, bool) { put(to, item); };
  write_table(chunks, ChunkType::Threads, trace.threads, plain);
  write_table(chunks, ChunkType::Sites, trace.sites, plain);
  write_table(chunks, ChunkType::Objects, trace.objects, plain);
  EventCodec codec;
  write_table(chunks, ChunkType::Events, trace.events,
              [&codec](ByteWriter& to, const Event& event, bool first) {
                if (first) codec = EventCodec();
                codec.put(to, event);
              });

  write_steps(chunks, trace);
  write_table(chunks, ChunkType::Stacks, trace.stacks, plain);

  bytes.clear();
  put(bytes, trace.outcome);
  chunks.write(ChunkType::Outcome, bytes.bytes());
  if (!trace.complete) return;
  bytes.clear();
  bytes.varint(trace.events.size());
  chunks.write(ChunkType::Footer, bytes.bytes());
}

void write_trace(const Trace& trace, const std::filesystem::path& path) {
  std::ostringstream bytes;
  write_trace(trace, bytes);
  write_file(path, bytes.view());
}

Trace parse_trace(std::string_view bytes, std::string_view name) {
  ChunkReader chunks(bytes, name);
  Trace trace;
  bool ended = false;
  ChunkType last = kNoChunk;
  while (std::optional<Chunk> chunk = chunks.next()) {
    if (ended) chunks.damaged(chunk->offset, "a chunk after the last one");
    if (!may_follow(last, chunk->type)) chunks.damaged(chunk->offset, "a chunk out of order");
    last = chunk->type;
    try {
      read_chunk(*chunk, trace, ended);
    } catch (const MalformedBytes& problem) {
      chunks.damaged(chunk->offset, problem.what());
    }
  }
  if (ended && !chunks.at_end()) chunks.damaged(bytes.size(), "bytes after the last chunk");
  trace.complete = ended;
  return trace;
}

Trace read_trace(const std::filesystem::path& path) {
  return parse_trace(read_file(path), path.string());
}

}  // namespace heddle::trace
