// SPDX-License-Identifier: Apache-2.0
#include "report/text/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "report/text/cell.h"
#include "report/text/entries.h"
#include "trace/words.h"

namespace heddle::report {
namespace {

using trace::EventKind;
using trace::kNone;
using trace::ThreadId;
using trace::Trace;

constexpr std::size_t kMostColumns = 4;  // threads that get a lane with words in it
constexpr std::size_t kNarrowestCell = 12;
constexpr std::size_t kWidestCell = 36;
constexpr std::size_t kSourceWorthShowing = 18;  // less of a source line says nothing
constexpr std::size_t kSourceWorthReading = 36;
constexpr std::size_t kWidestFunction = 24;

/// From which event a thread exists, and until which.
struct Life {
  std::size_t birth = 0;
  std::size_t end = SIZE_MAX;
};

struct Lane {
  ThreadId thread = 0;
  std::string title;
  std::size_t cell = 0;  // columns for words; 0: a bare line
  std::size_t left = 0;  // column of its line
  std::size_t width() const { return cell == 0 ? 2 : cell + 3; }
};

class Renderer {
 public:
  Renderer(const Trace& trace, const TimelineOptions& options)
      : trace_(trace),
        style_(options.style),
        width_(std::max<std::size_t>(options.width, 40)),
        entries_(make_entries(trace, options)) {}

  std::string render() {
    if (entries_.empty()) return "";
    make_lanes();
    find_lives();
    measure();
    header();
    const Entry* previous = nullptr;
    for (const Entry& entry : entries_) {
      if (previous != nullptr) arrow(*previous, entry);
      if (in_columns_) function_row(entry);
      rows(entry);
      previous = &entry;
    }
    return std::move(out_);
  }

 private:
  void make_lanes() {
    std::set<ThreadId> involved;
    for (const Entry& entry : entries_)
      if (entry.thread != kNone) involved.insert(entry.thread);
    for (ThreadId thread : involved) {
      Lane lane;
      lane.thread = thread;
      lane.title = trace_.threads[thread].path;
      lanes_.push_back(lane);
    }
  }

  void find_lives() {
    lives_.assign(trace_.threads.size(), {SIZE_MAX, SIZE_MAX});
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const trace::Event& event = trace_.events[i];
      Life& own = lives_[event.thread];
      own.birth = std::min(own.birth, i);
      if (event.kind == EventKind::ThreadExit) own.end = i;
      if (event.kind == EventKind::ThreadCreate && event.value < lives_.size())
        lives_[event.value].birth = std::min(lives_[event.value].birth, i + 1);
    }
  }

  void measure() {
    std::size_t digits = std::to_string(entries_.back().position).size();
    gutter_ = std::max<std::size_t>(digits, 3) + 2;
    for (const Entry& entry : entries_) {
      place_ = std::max(place_, display_width(entry.place));
      function_ = std::min(std::max(function_, display_width(entry.function)), kWidestFunction);
      source_ = std::max(source_, display_width(entry.source));
    }
    in_columns_ = lanes_.size() <= kMostColumns && fit_columns();
    if (!in_columns_) fit_lines();
    std::size_t left = gutter_;
    for (Lane& lane : lanes_) {
      lane.left = left;
      left += lane.width();
    }
    margin_ = left + words_ + (in_columns_ ? 1 : 0);
  }

  /// Gives each lane the room its words take. On a narrow terminal the longest words go on in a
  /// second line so that the source can be read; false when even that is not enough.
  bool fit_columns() {
    std::vector<std::size_t> comfortable, tight;
    for (Lane& lane : lanes_) {
      std::vector<std::size_t> widths = {std::max(kNarrowestCell, display_width(lane.title))};
      for (const Entry& entry : entries_)
        if (entry.thread == lane.thread) widths.push_back(display_width(entry.phrase));
      std::sort(widths.begin(), widths.end());
      lane.cell = std::clamp(widths.back(), kNarrowestCell, kWidestCell);
      comfortable.push_back(std::clamp(widths[widths.size() * 9 / 10], kNarrowestCell, lane.cell));
      tight.push_back(std::max(kNarrowestCell, lane.cell * 2 / 3));
    }
    shrink_columns(comfortable, kSourceWorthReading);
    return shrink_columns(tight, kSourceWorthShowing);
  }

  /// Until the terminal has room for `source` columns of source text; no lane below its
  /// `narrowest`.
  bool shrink_columns(const std::vector<std::size_t>& narrowest, std::size_t source) {
    source = std::min(source_, source);
    std::size_t total = gutter_ + 1 + place_ + (source == 0 ? 0 : source + 2);
    for (const Lane& lane : lanes_) total += lane.width();
    for (; total > width_; --total) {
      Lane* widest = nullptr;
      for (std::size_t i = 0; i < lanes_.size(); ++i)
        if (lanes_[i].cell > narrowest[i] && (widest == nullptr || lanes_[i].cell > widest->cell))
          widest = &lanes_[i];
      if (widest == nullptr) return false;
      --widest->cell;
    }
    return true;
  }

  void fit_lines() {
    std::size_t name = 0, phrase = 0;
    for (const Lane& lane : lanes_) name = std::max(name, trace_.threads[lane.thread].path.size());
    for (const Entry& entry : entries_) phrase = std::max(phrase, display_width(entry.phrase));
    // Too many threads for lines at all: the names have to do.
    bool lines = lanes_.size() * 2 <= width_ / 3;
    for (Lane& lane : lanes_) lane.cell = 0;
    if (!lines) lanes_.clear();
    name_ = name + 2;
    std::size_t used = gutter_ + lanes_.size() * 2 + name_;
    std::size_t room = width_ > used ? width_ - used : 0;
    words_ = name_ + std::min(phrase + 2, std::max<std::size_t>(room / 2, 20));
  }

  void header() {
    if (!in_columns_) return;
    std::string line(gutter_, ' ');
    for (const Lane& lane : lanes_)
      line += style_.paint_thread(
          lane.thread,
          padded(shortened(lane.title, lane.cell + 1, style_.glyphs().ellipsis), lane.width()));
    add_line(line);
  }

  bool alive(const Lane& lane, std::size_t position) const {
    const Life& life = lives_[lane.thread];
    return life.birth <= position && position <= life.end;
  }

  std::string bar(const Lane& lane, const Entry& entry) const {
    const Glyphs& glyphs = style_.glyphs();
    if (lane.thread != entry.thread && !(entry.kind == Entry::Kind::Gap && entry.thread == kNone))
      return alive(lane, entry.position) ? style_.paint(Paint::Dim, glyphs.bar) : " ";
    if (entry.kind == Entry::Kind::Gap)
      return alive(lane, entry.position) ? style_.paint(Paint::Dim, glyphs.gap) : " ";
    if (entry.fails) return style_.paint(Paint::Failure, glyphs.fails);
    return style_.paint_thread(lane.thread, glyphs.acts);
  }

  /// Words longer than their lane go on below; the margin stands beside the first line.
  void rows(const Entry& entry) {
    std::size_t cell = cell_of(entry);
    std::vector<std::string> lines = wrapped(entry.phrase, cell);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      bool first = i == 0;
      std::string line = gutter(entry, first);
      for (const Lane& lane : lanes_) {
        line += first ? bar(lane, entry) : continued_bar(lane, entry);
        if (lane.cell == 0) {
          line += ' ';
          continue;
        }
        bool own = lane.thread == entry.thread;
        line += ' ' + painted_words(entry, padded(own ? lines[i] : "", lane.cell)) + ' ';
      }
      if (!in_columns_) {
        std::string name =
            first && entry.thread != kNone ? trace_.threads[entry.thread].path : std::string();
        line += entry.thread == kNone ? padded("", name_)
                                      : style_.paint_thread(entry.thread, padded(name, name_));
        line += painted_words(entry, padded(lines[i], words_ - name_));
      } else if (entry.thread == kNone) {
        line += painted_words(entry, lines[i]);
      }
      if (first && in_columns_) line += ' ';
      if (first) line += margin(entry);
      add_line(line);
    }
  }

  /// Says in which function a thread is whenever that is another one than last told.
  void function_row(const Entry& entry) {
    if (entry.function.empty() || entry.thread == kNone) return;
    std::string& last = functions_[entry.thread];
    if (last == entry.function) return;
    last = entry.function;
    std::string line(gutter_, ' ');
    for (const Lane& lane : lanes_) {
      std::string words;
      if (lane.thread == entry.thread)
        words = shortened(entry.function, lane.cell - 1, style_.glyphs().ellipsis) + ":";
      line += (lane.thread == entry.thread || alive(lane, entry.position)
                   ? style_.paint(Paint::Dim, style_.glyphs().bar)
                   : " ") +
              " " + style_.paint(Paint::Dim, padded(words, lane.cell)) + " ";
    }
    add_line(line);
  }

  std::size_t cell_of(const Entry& entry) const {
    if (!in_columns_) return words_ - name_ - 1;
    for (const Lane& lane : lanes_)
      if (lane.thread == entry.thread) return lane.cell;
    return width_ > margin_ ? width_ - margin_ : kNarrowestCell;
  }

  std::string gutter(const Entry& entry, bool first) const {
    std::string text;
    if (first && entry.kind == Entry::Kind::Event) text = std::to_string(entry.position);
    text = fmt::format("{:>{}} ", text, gutter_ - 2) + " ";
    return style_.paint(Paint::Dim, text);
  }

  std::string continued_bar(const Lane& lane, const Entry& entry) const {
    bool shown = lane.thread == entry.thread ? entry.position < lives_[lane.thread].end
                                             : alive(lane, entry.position);
    return shown ? style_.paint(Paint::Dim, style_.glyphs().bar) : " ";
  }

  std::string painted_words(const Entry& entry, const std::string& words) const {
    if (entry.kind == Entry::Kind::Gap) return style_.paint(Paint::Dim, words);
    return entry.fails ? style_.paint(Paint::Failure, words) : words;
  }

  /// Place, function and source line, as much of them as there is room for.
  std::string margin(const Entry& entry) const {
    if (entry.place.empty() || width_ <= margin_) return "";
    const char* ellipsis = style_.glyphs().ellipsis;
    std::size_t room = width_ - margin_;
    std::string out = shortened(entry.place, room, ellipsis);
    std::size_t used = std::max(place_, display_width(out));
    bool source = source_ != 0;
    bool function = !in_columns_ && function_ != 0 &&
                    (!source || used + function_ + 4 + kSourceWorthShowing <= room);
    if (!function && !source) return style_.paint(Paint::Place, out);
    out = style_.paint(Paint::Place, padded(out, place_));
    if (function && used + 4 < room) {
      std::size_t columns = std::min(function_, room - used - 2);
      out += "  " + style_.paint(Paint::Dim, padded(shortened(entry.function, columns, ellipsis),
                                                    source ? columns : 0));
      used += columns + 2;
    }
    if (source && used + 4 < room) out += "  " + shortened(entry.source, room - used - 2, ellipsis);
    return out;
  }

  const Lane* lane_of(ThreadId thread) const {
    for (const Lane& lane : lanes_)
      if (lane.thread == thread) return &lane;
    return nullptr;
  }

  /// The line from the thread that stops to the one that goes on.
  void arrow(const Entry& before, const Entry& after) {
    if (before.thread == after.thread || after.kind == Entry::Kind::Ending) return;
    const Lane* from = lane_of(before.thread);
    const Lane* to = lane_of(after.thread);
    if (from == nullptr || to == nullptr || !in_columns_) return;
    const Glyphs& glyphs = style_.glyphs();
    bool right = from->left < to->left;
    const Lane* first = right ? from : to;
    const Lane* last = right ? to : from;

    std::string line(gutter_, ' ');
    for (const Lane& lane : lanes_) {
      bool inside = lane.left >= first->left && lane.left <= last->left;
      if (!inside) {
        line += alive(lane, after.position) ? style_.paint(Paint::Dim, glyphs.bar) : " ";
        line.append(lane.width() - 1, ' ');
        continue;
      }
      const char* sign = &lane == from ? (right ? glyphs.leave_right : glyphs.leave_left)
                         : &lane == to ? (right ? glyphs.enter_right : glyphs.enter_left)
                                       : glyphs.across;
      line += style_.paint_thread(after.thread, sign);
      if (&lane == last) {
        line.append(lane.width() - 1, ' ');
        continue;
      }
      std::string across;
      for (std::size_t i = 1; i < lane.width(); ++i) across += glyphs.across;
      line += style_.paint_thread(after.thread, across);
    }
    add_line(line);
  }

  void add_line(std::string line) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out_ += line + '\n';
  }

  const Trace& trace_;
  Style style_;
  std::size_t width_;
  std::vector<Entry> entries_;
  std::vector<Lane> lanes_;
  std::vector<Life> lives_;
  bool in_columns_ = true;
  std::size_t gutter_ = 0;
  std::size_t name_ = 0;   // columns of a thread's name beside bare lines
  std::size_t words_ = 0;  // columns of name and words beside bare lines
  std::size_t margin_ = 0;
  std::size_t place_ = 0, function_ = 0, source_ = 0;  // the longest of each
  std::map<ThreadId, std::string> functions_;          // in which each thread was last told to be
  std::string out_;
};

}  // namespace

std::string timeline(const Trace& trace, const TimelineOptions& options) {
  return Renderer(trace, options).render();
}

}  // namespace heddle::report
