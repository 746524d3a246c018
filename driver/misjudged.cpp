// SPDX-License-Identifier: Apache-2.0
#include "driver/misjudged.h"

#include <fmt/format.h>

#include <filesystem>

#include "abi/names.h"
#include "driver/trace_builder.h"

namespace heddle::driver {
namespace {

std::string access_text(const Program& program, abi::SiteId id, const std::string& thread) {
  const trace::Site site = program.site(id);
  std::string place = site.key;
  if (!site.frames.empty() && site.frames.front().line != 0) {
    const trace::Frame& frame = site.frames.front();
    place = fmt::format("{}:{} ({})", std::filesystem::path(frame.file).filename().string(),
                        frame.line, frame.function);
  }
  std::string text = fmt::format("  {} by {}", place, thread);
  const auto info = program.sites() == nullptr ? std::nullopt : program.sites()->find(id);
  if (info) {
    text += fmt::format(", {}: {}", abi::name_of(info->sharing), abi::reason_of(info->sharing));
  }
  return text;
}

}  // namespace

std::string misjudged_text(const Program& program, const Channel& channel) {
  const abi::FailureRecord& failure = channel.header().failure;
  const std::vector<std::string> paths = thread_paths(channel);
  const auto path = [&](std::uint32_t thread) {
    return thread < paths.size() ? paths[thread] : std::string("several threads");
  };
  return fmt::format(
      "the sharing analysis is wrong about {}. These accesses reached the same memory:\n{}\n{}\n"
      "Searches may miss schedules of this program. 'heddle show --sites {}' lists all verdicts",
      program.name(), access_text(program, failure.related_site, path(failure.related_thread)),
      access_text(program, failure.site, path(failure.thread)), program.name());
}

}  // namespace heddle::driver
