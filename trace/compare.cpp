// SPDX-License-Identifier: Apache-2.0
#include "trace/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "abi/names.h"
#include "trace/words.h"

namespace heddle::trace {
namespace {

std::string object_name(const Trace& trace, ObjectIndex object) {
  return object < trace.objects.size() ? trace.objects[object].name : "";
}

bool value_is_thread(EventKind kind) {
  return kind == EventKind::ThreadCreate || kind == EventKind::ThreadJoin ||
         kind == EventKind::ThreadDetach || kind == EventKind::ThreadCancel ||
         kind == EventKind::ThreadSignal || kind == EventKind::ThreadTryjoin;
}

/// Thread indices are the order of birth in one run; another run may have another.
std::string value_of(const Trace& trace, const Event& event) {
  return value_is_thread(event.kind) ? thread_name(trace, event.value)
                                     : std::to_string(event.value);
}

std::string aux_of(const Trace& trace, const Event& event) {
  return event.kind == EventKind::CondSignal && event.aux != 0 ? thread_name(trace, event.aux - 1)
                                                               : std::to_string(event.aux);
}

class Comparison {
 public:
  Comparison(const Trace& expected, const Trace& actual) : expected_(expected), actual_(actual) {}

  std::optional<Difference> run() {
    if (events() || steps() || outcome() || threads() || objects() || sites()) return difference_;
    return std::nullopt;
  }

 private:
  bool found(std::string field, std::string expected, std::string actual) {
    difference_ = {event_, std::move(field), std::move(expected), std::move(actual)};
    return true;
  }

  bool events() {
    std::size_t common = std::min(expected_.events.size(), actual_.events.size());
    for (std::size_t i = 0; i < common; ++i) {
      const Event& left = expected_.events[i];
      const Event& right = actual_.events[i];
      const char* field = differing_field(left, right);
      if (field == nullptr) continue;
      event_ = i;
      std::string expected = describe_with_place(expected_, left);
      std::string actual = describe_with_place(actual_, right);
      // The words leave out what rarely matters (a site's key, an unused aux).
      if (expected == actual) {
        expected += exact_words(expected_, left);
        actual += exact_words(actual_, right);
      }
      return found(field, expected, actual);
    }
    if (expected_.events.size() == actual_.events.size()) return false;
    event_ = common;
    auto words = [common](const Trace& trace) {
      return common < trace.events.size() ? describe_with_place(trace, trace.events[common])
                                          : "the end of the run";
    };
    return found("number of events", words(expected_), words(actual_));
  }

  bool has_steps_to_compare() const { return !expected_.steps.empty() && !actual_.steps.empty(); }

  bool steps() {
    event_.reset();
    if (!has_steps_to_compare()) return false;
    const auto words = [](const Trace& trace, std::size_t i) {
      if (i >= trace.steps.size()) return std::string("no further step");
      const Step& step = trace.steps[i];
      return fmt::format("{} {} before event {} at {}", thread_name(trace, step.thread),
                         describe(step), step.event, place_and_function(trace, step.site));
    };
    for (std::size_t i = 0; i < std::max(expected_.steps.size(), actual_.steps.size()); ++i) {
      const std::string expected = words(expected_, i), actual = words(actual_, i);
      if (expected != actual) return found(fmt::format("step {}", i), expected, actual);
    }
    return false;
  }

  const char* differing_field(const Event& left, const Event& right) const {
    if (thread_name(expected_, left.thread) != thread_name(actual_, right.thread)) return "thread";
    if (key_of(expected_, left.site) != key_of(actual_, right.site)) return "site";
    if (left.kind != right.kind) return "kind";
    if (object_name(expected_, left.object) != object_name(actual_, right.object)) return "object";
    if (left.offset != right.offset) return "offset";
    if (left.size != right.size) return "size";
    if (value_of(expected_, left) != value_of(actual_, right)) return "value";
    if (aux_of(expected_, left) != aux_of(actual_, right)) return "aux";
    return nullptr;
  }

  static std::string exact_words(const Trace& trace, const Event& event) {
    return fmt::format(" [site {}, object {}+{}, size {}, value {}, aux {}]",
                       key_of(trace, event.site), object_name(trace, event.object), event.offset,
                       event.size, value_of(trace, event), aux_of(trace, event));
  }

  bool outcome() {
    event_.reset();
    const Outcome& left = expected_.outcome;
    const Outcome& right = actual_.outcome;
    if (left.kind != right.kind)
      return found("outcome", outcome_words(expected_), outcome_words(actual_));
    if (left.exit_code != right.exit_code)
      return found("exit code", std::to_string(left.exit_code), std::to_string(right.exit_code));
    if (left.signal != right.signal)
      return found("signal", std::to_string(left.signal), std::to_string(right.signal));
    if (thread_name(expected_, left.thread) != thread_name(actual_, right.thread))
      return found("thread of the failure", thread_name(expected_, left.thread),
                   thread_name(actual_, right.thread));
    if (key_of(expected_, left.site) != key_of(actual_, right.site))
      return found("place of the failure", place_and_function(expected_, left.site),
                   place_and_function(actual_, right.site));
    if (key_of(expected_, left.related_site) != key_of(actual_, right.related_site))
      return found("place that freed the memory", place_and_function(expected_, left.related_site),
                   place_and_function(actual_, right.related_site));
    if (left.message != right.message) return found("message", left.message, right.message);
    if (left.file != right.file || left.line != right.line || left.function != right.function)
      return found("place of the failure", file_words(left), file_words(right));
    return waits();
  }

  bool waits() {
    const std::vector<Wait>& left = expected_.outcome.waits;
    const std::vector<Wait>& right = actual_.outcome.waits;
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      std::string expected = i < left.size() ? describe(expected_, left[i]) : "no further wait";
      std::string actual = i < right.size() ? describe(actual_, right[i]) : "no further wait";
      if (expected != actual) return found("wait", expected, actual);
    }
    return false;
  }

  static std::string outcome_words(const Trace& trace) {
    return fmt::format("{} ({})", abi::name_of(trace.outcome.kind),
                       abi::sentence_of(trace.outcome.kind));
  }

  static std::string file_words(const Outcome& outcome) {
    return fmt::format("{}:{} ({})", outcome.file, outcome.line, outcome.function);
  }

  /// Compares two tables by name; `words` says what an entry holds beside its name.
  template <typename Items, typename Name, typename Words>
  bool table(const char* field, const Items& left, const Items& right, Name name, Words words) {
    auto index = [&](const Items& items) {
      std::map<std::string, std::string> result;
      for (const auto& item : items) result.emplace(name(item), words(item));
      return result;
    };
    std::map<std::string, std::string> expected = index(left), actual = index(right);
    for (const auto& [key, text] : expected) {
      auto other = actual.find(key);
      if (other == actual.end()) return found(field, text, "none of that name");
      if (other->second != text) return found(field, text, other->second);
    }
    for (const auto& [key, text] : actual)
      if (!expected.contains(key)) return found(field, "none of that name", text);
    return false;
  }

  bool threads() {
    return table(
        "threads", expected_.threads, actual_.threads, [](const Thread& t) { return t.path; },
        [](const Thread& t) { return t.path; });
  }

  bool objects() {
    return table(
        "objects", expected_.objects, actual_.objects, [](const Object& o) { return o.name; },
        [](const Object& o) {
          return fmt::format("{} of {} bytes, kind {}", o.name, o.size, static_cast<int>(o.kind));
        });
  }

  /// Without those that only steps name, unless both traces have steps.
  std::vector<Site> compared_sites(const Trace& trace) const {
    if (trace.steps.empty() || has_steps_to_compare()) return trace.sites;
    std::vector<bool> is_used(trace.sites.size(), true);
    for (const Step& step : trace.steps)
      if (step.site != kNone) is_used[step.site] = false;
    const auto use = [&](SiteIndex site) {
      if (site != kNone) is_used[site] = true;
    };
    for (const Event& event : trace.events) use(event.site);
    use(trace.outcome.site);
    use(trace.outcome.related_site);
    for (const Wait& wait : trace.outcome.waits) use(wait.site), use(wait.holder_site);
    std::vector<Site> sites;
    for (std::size_t i = 0; i < trace.sites.size(); ++i)
      if (is_used[i]) sites.push_back(trace.sites[i]);
    return sites;
  }

  bool sites() {
    return table(
        "sites", compared_sites(expected_), compared_sites(actual_),
        [](const Site& s) { return s.key; },
        [](const Site& s) {
          std::string text = s.key;
          if (!s.callee.empty()) text += " calling " + s.callee;
          for (const Frame& frame : s.frames)
            text +=
                fmt::format(" {}:{}:{} ({})", frame.file, frame.line, frame.column, frame.function);
          return text;
        });
  }

  const Trace& expected_;
  const Trace& actual_;
  std::optional<std::size_t> event_;
  Difference difference_;
};

}  // namespace

std::optional<Difference> first_difference(const Trace& expected, const Trace& actual) {
  return Comparison(expected, actual).run();
}

std::string to_text(const Difference& difference) {
  std::string at = difference.event ? fmt::format("event {}: ", *difference.event) : "";
  return fmt::format("{}other {}: expected {}; actual {}", at, difference.field,
                     difference.expected, difference.actual);
}

}  // namespace heddle::trace
