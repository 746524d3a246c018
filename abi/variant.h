// SPDX-License-Identifier: Apache-2.0
//
// Names of variants (abi/variants.def), as the user writes them and as the driver tells the pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::abi {

/// The linker has loaded its plugins only after it has read its command line, so the pass learns
/// the variant to make from this environment variable. Not set: full.
inline constexpr char kPassVariantVariable[] = "HEDDLE_PASS_VARIANT";

/// The id of a module's first site, in decimal; not set: kFirstSite. Sites of the libraries that
/// are loaded into a program are numbered behind its own.
inline constexpr char kPassFirstSiteVariable[] = "HEDDLE_PASS_FIRST_SITE";

enum class VariantBase : std::uint32_t {
#define HEDDLE_VARIANT(Name, text, always, help) Name,
#define HEDDLE_VARIANT_EXTRA(bit, Name, text, help)
#include "abi/variants.def"
};

struct Variant {
  enum Extra : std::uint32_t {
#define HEDDLE_VARIANT(Name, text, always, help)
#define HEDDLE_VARIANT_EXTRA(bit, Name, text, help) Name = bit,
#include "abi/variants.def"
  };

  VariantBase base = VariantBase::Full;
  std::uint32_t extras = 0;  // sum of Extra

  /// False for a program that calls no hook.
  constexpr bool needs_runtime() const {
    const bool is_native = base == VariantBase::Production || base == VariantBase::Pinned ||
                           base == VariantBase::Sites;
    return !is_native || (extras & ~std::uint32_t{Marks}) != 0;
  }
  /// True for a program that, started by itself, runs as if it called no hook.
  constexpr bool runs_natively() const { return base != VariantBase::Full; }
  constexpr bool has(Extra extra) const { return (extras & extra) != 0; }
  constexpr Variant with(std::uint32_t more) const { return {base, extras | more}; }
  constexpr bool operator==(const Variant&) const = default;

  static const Variant Full;
  static const Variant Production;
  static const Variant Pinned;
  static const Variant Sites;

  /// Nothing when there is no such variant.
  static std::optional<Variant> of_name(std::string_view name) {
    const std::string_view first = name.substr(0, name.find('+'));
    std::optional<Variant> variant;
#define HEDDLE_VARIANT(Name, text, always, help) \
  if (first == text) variant = Variant{VariantBase::Name, always};
#define HEDDLE_VARIANT_EXTRA(bit, Name, text, help)
#include "abi/variants.def"
    if (!variant) return std::nullopt;
    for (std::size_t at = first.size(); at < name.size();) {
      const std::size_t end = name.find('+', at + 1);
      const std::string_view word = name.substr(at + 1, end == name.npos ? end : end - at - 1);
      std::uint32_t extra = 0;
#define HEDDLE_VARIANT(Name, text, always, help)
#define HEDDLE_VARIANT_EXTRA(bit, Name, text, help) \
  if (word == text) extra = Name;
#include "abi/variants.def"
      if (extra == 0) return std::nullopt;
      variant->extras |= extra;
      at = end == name.npos ? name.size() : end;
    }
    return variant;
  }

  /// The same for equal variants, whichever way they were spelled.
  std::string name() const {
    std::string result;
    std::uint32_t implied = 0;
#define HEDDLE_VARIANT(Name, text, always, help) \
  if (base == VariantBase::Name) {               \
    result = text;                               \
    implied = always;                            \
  }
#define HEDDLE_VARIANT_EXTRA(bit, Name, text, help) \
  if ((extras & ~implied & Name) != 0) result += "+" text;
#include "abi/variants.def"
    return result;
  }
};

inline constexpr Variant Variant::Full{};
inline constexpr Variant Variant::Production{VariantBase::Production, 0};
inline constexpr Variant Variant::Pinned{VariantBase::Pinned, 0};
inline constexpr Variant Variant::Sites{VariantBase::Sites, 0};

}  // namespace heddle::abi
