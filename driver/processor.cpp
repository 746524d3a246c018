// SPDX-License-Identifier: Apache-2.0
#include "driver/processor.h"

#include <cpuid.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "base/error.h"

namespace heddle::driver {
namespace {

enum Register : unsigned { Eax, Ebx, Ecx, Edx };

/// What the system has to save for a thread (XCR0).
enum Saved : std::uint32_t { Usual = 0, Wide = 0x6, Widest = 0xe6 };

struct Feature {
  const char* name;
  std::uint32_t leaf;
  Register where;
  unsigned bit;
  Saved saved = Usual;
  bool is_needed = true;  // the code does not run without it; else it would only be slower
};
constexpr Feature kFeatures[] = {
    {"AVX", 1, Ecx, 28, Wide},
    {"AVX2", 7, Ebx, 5, Wide},
    {"AVX512F", 7, Ebx, 16, Widest},
    {"AVX512VL", 7, Ebx, 31, Widest},
    {"AVX512BW", 7, Ebx, 30, Widest},
    {"BMI1", 7, Ebx, 3},
    {"BMI2", 7, Ebx, 8},
    {"ERMS", 7, Ebx, 9, Usual, false},
    {"FSRM", 7, Edx, 4, Usual, false},
    {"LZCNT", 0x8000'0001, Ecx, 5},
    {"MOVBE", 1, Ecx, 22},
    {"POPCNT", 1, Ecx, 23},
    {"RTM", 7, Ebx, 11},
    {"SSE4_1", 1, Ecx, 19},
    {"SSE4_2", 1, Ecx, 20},
    {"SSSE3", 1, Ecx, 9},
};

constexpr char kVariable[] = "GLIBC_TUNABLES=";
constexpr char kTunable[] = "glibc.cpu.hwcaps=";

bool says(std::uint32_t leaf, Register where, unsigned bit) {
  unsigned registers[4] = {};
  if (__get_cpuid_count(leaf, 0, &registers[Eax], &registers[Ebx], &registers[Ecx],
                        &registers[Edx]) == 0) {
    return false;
  }
  return (registers[where] >> bit & 1) != 0;
}

std::uint32_t saved_by_the_system() {
  constexpr unsigned kOsXsave = 27;
  if (!says(1, Ecx, kOsXsave)) return 0;
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

bool is_there(const Feature& feature) {
  return says(feature.leaf, feature.where, feature.bit) &&
         (saved_by_the_system() & feature.saved) == feature.saved;
}

/// What follows `begin`, up to one of `ends`.
std::string_view word_behind(std::string_view text, std::string_view begin, const char* ends) {
  const std::size_t at = text.find(begin);
  if (at == text.npos) return {};
  text.remove_prefix(at + begin.size());
  return text.substr(0, text.find_first_of(ends));
}

std::vector<std::string> hidden_in(const std::vector<std::string>& environment) {
  std::vector<std::string> hidden;
  for (const std::string_view entry : environment) {
    if (!entry.starts_with(kVariable)) continue;
    std::string_view rest = word_behind(entry, kTunable, ":");
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
      if (word.starts_with('-')) hidden.emplace_back(word.substr(1));
    }
  }
  return hidden;
}

}  // namespace

std::string plain_processor() {
  std::string text = std::string(kVariable) + kTunable;
  for (const Feature& feature : kFeatures) {
    if (text.back() != '=') text += ',';
    text += '-';
    text += feature.name;
  }
  return text;
}

std::vector<std::string> chosen_by(const std::vector<std::string>& environment) {
  const std::vector<std::string> hidden = hidden_in(environment);
  std::vector<std::string> names;
  for (const Feature& feature : kFeatures) {
    if (feature.is_needed && is_there(feature) &&
        std::ranges::find(hidden, feature.name) == hidden.end()) {
      names.emplace_back(feature.name);
    }
  }
  return names;
}

void refuse_lesser_processor(const std::vector<std::string>& names) {
  std::vector<std::string> absent;
  for (const std::string& name : names) {
    const auto* const known = std::ranges::find(kFeatures, name, &Feature::name);
    if (known == std::end(kFeatures) || !is_there(*known)) absent.push_back(name);
  }
  if (absent.empty()) return;
  throw environment_error(fmt::format(
      "this run begins in the middle of its program, whose libc has chosen functions for a "
      "processor with {}, which this one does not have: replay it on one that has, or record it "
      "with {} in the environment",
      fmt::join(absent, ", "), plain_processor()));
}

}  // namespace heddle::driver
