// SPDX-License-Identifier: Apache-2.0
#include "driver/outcome.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/error.h"

namespace heddle::driver {
namespace {

/// What remains of the line of `text` after `mark`; empty if there is none.
std::string after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + mark.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

bool has_sanitizer_report(std::string_view said) {
  return said.find("ERROR: AddressSanitizer") != std::string_view::npos ||
         said.find("ERROR: LeakSanitizer") != std::string_view::npos ||
         said.find(": runtime error: ") != std::string_view::npos;
}

/// Both C++ libraries announce an uncaught exception on standard error before they abort.
bool refine_abort(std::string_view said, Ending& ending) {
  if (said.find("terminate called") == std::string_view::npos &&
      said.find("terminating due to uncaught exception") == std::string_view::npos) {
    return false;
  }
  ending.kind = abi::FailureKind::Exception;
  ending.message = after(said, "what():  ");
  if (ending.message.empty()) ending.message = after(said, "instance of ");
  return true;
}

/// A file that exists as long as the object does.
class ScratchFile {
 public:
  ScratchFile(const std::string& contents) {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-XXXXXX").string();
    const int descriptor = mkstemp(name.data());
    if (descriptor < 0) throw environment_error("cannot create a temporary file");
    close(descriptor);
    path_ = name;
    std::ofstream(path_, std::ios::binary) << contents;
  }
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Ending classify(const Target& target, const Execution& execution) {
  const abi::FailureRecord& record = target.channel().header().failure;
  Ending ending;
  if (execution.timed_out) {
    ending.kind = abi::FailureKind::Hang;
    return ending;
  }
  if (WIFSIGNALED(execution.status)) {
    ending.signal = WTERMSIG(execution.status);
    ending.kind = abi::FailureKind::Signal;
    if (record.kind == abi::FailureKind::Assert) {
      ending.kind = record.kind;
      ending.message = record.message;
    } else if (const std::string said = target.standard_error(); has_sanitizer_report(said)) {
      ending.kind = abi::FailureKind::Sanitizer;
      ending.message = after(said, "ERROR: ");
    } else if (ending.signal == SIGABRT) {
      refine_abort(said, ending);
    }
    return ending;
  }
  ending.exit_code = WEXITSTATUS(execution.status);
  if (record.kind != abi::FailureKind::None) {
    ending.kind = record.kind;  // the runtime ended it
    ending.message = record.message;
  } else if (ending.exit_code != 0) {
    const std::string said = target.standard_error();
    ending.kind = has_sanitizer_report(said) ? abi::FailureKind::Sanitizer : abi::FailureKind::Exit;
  }
  return ending;
}

bool predicate_holds(const std::string& command, const Target& target, const Ending& ending) {
  return predicate_holds(command,
                         {ending.exit_code, target.standard_output(), target.standard_error()});
}

bool predicate_holds(const std::string& command, const Said& said) {
  const ScratchFile output(said.standard_output);
  const ScratchFile error(said.standard_error);
  const std::string line =
      fmt::format("export HEDDLE_EXIT={} HEDDLE_STDOUT='{}' HEDDLE_STDERR='{}'\n{}", said.exit_code,
                  output.path(), error.path(), command);
  const int status = std::system(line.c_str());
  if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) >= 126) {
    throw user_error(fmt::format("the predicate of --fails-if cannot be run: {}", command));
  }
  return WEXITSTATUS(status) == 0;
}

}  // namespace heddle::driver
