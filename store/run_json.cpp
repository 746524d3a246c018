// SPDX-License-Identifier: Apache-2.0
#include "store/run_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "abi/names.h"
#include "base/error.h"

namespace heddle::store {
namespace {

using nlohmann::json;

json from_text(const std::string& text) {
  json value = text;
  try {
    value.dump();  // throws on invalid UTF-8
    return value;
  } catch (const json::type_error&) {
    std::string digits;
    for (char c : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return {{"bytes", digits}};
  }
}

std::string to_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  const std::string& digits = value.at("bytes").get_ref<const std::string&>();
  std::string text;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    text.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return text;
}

json from_texts(const std::vector<std::string>& texts) {
  json values = json::array();
  for (const std::string& text : texts) values.push_back(from_text(text));
  return values;
}

std::vector<std::string> to_texts(const json& values) {
  std::vector<std::string> texts;
  for (const json& value : values) texts.push_back(to_text(value));
  return texts;
}

template <typename Read>
auto read(std::string_view text, std::string_view file, Read read_value) {
  try {
    return read_value(json::parse(text));
  } catch (const std::exception& problem) {
    throw user_error(fmt::format(
        "{}: damaged file of a run ({}); restore it, or remove the run with `heddle rm`", file,
        problem.what()));
  }
}

}  // namespace

std::string to_json(const RunInputs& inputs) {
  json value = {{"argv", from_texts(inputs.arguments)},
                {"environment", from_texts(inputs.environment)},
                {"cwd", from_text(inputs.directory)}};
  if (inputs.standard_input) value["stdin"] = from_text(*inputs.standard_input);
  if (!inputs.checkpoint.empty()) value["checkpoint"] = true;
  if (inputs.outside) {
    value["process"] = inputs.outside->process;
    value["files"] = json::array();
    for (const StoredFile& file : inputs.outside->files) {
      value["files"].push_back({{"given", from_text(file.given)},
                                {"path", from_text(file.path)},
                                {"sha256", file.sha256},
                                {"size", file.size},
                                {"kept", !file.copy.empty()}});
    }
  }
  return value.dump(2) + "\n";
}

RunInputs inputs_from_json(std::string_view text, std::string_view file) {
  return read(text, file, [](const json& value) {
    RunInputs inputs;
    inputs.arguments = to_texts(value.at("argv"));
    inputs.environment = to_texts(value.at("environment"));
    inputs.directory = to_text(value.at("cwd"));
    if (value.value("checkpoint", false)) inputs.checkpoint = kCheckpointFile;
    if (value.contains("stdin")) inputs.standard_input = to_text(value.at("stdin"));
    if (value.contains("files")) {
      inputs.outside.emplace();
      inputs.outside->process = value.at("process").get<std::int32_t>();
      for (const json& file : value.at("files")) {
        const auto hash = file.at("sha256").get<std::string>();
        inputs.outside->files.push_back({to_text(file.at("given")), to_text(file.at("path")), hash,
                                         file.at("size").get<std::uint64_t>(),
                                         file.at("kept").get<bool>() ? hash : ""});
      }
    }
    return inputs;
  });
}

std::string to_json(const RunSummary& summary) {
  json value = {{"created", summary.created},
                {"command", from_text(summary.command)},
                {"program", from_text(summary.program)},
                {"build_id", from_text(summary.build_id)},
                {"outcome", abi::name_of(summary.outcome)},
                {"signature", from_text(summary.signature)},
                {"events", summary.events},
                {"threads", summary.threads},
                {"switches", summary.switches},
                {"preemptions", summary.preemptions},
                {"seconds", summary.seconds}};
  return value.dump(2) + "\n";
}

RunSummary summary_from_json(std::string_view text, std::string_view file) {
  return read(text, file, [](const json& value) {
    RunSummary summary;
    summary.created = to_text(value.at("created"));
    summary.command = to_text(value.at("command"));
    summary.program = to_text(value.at("program"));
    summary.build_id = to_text(value.at("build_id"));
    const std::string& outcome = value.at("outcome").get_ref<const std::string&>();
    if (!abi::failure_from_name(outcome.c_str(), summary.outcome))
      throw std::runtime_error("unknown outcome " + outcome);
    summary.signature = to_text(value.at("signature"));
    summary.events = value.at("events").get<std::uint64_t>();
    summary.threads = value.at("threads").get<std::uint64_t>();
    summary.switches = value.at("switches").get<std::uint64_t>();
    summary.preemptions = value.at("preemptions").get<std::uint64_t>();
    summary.seconds = value.at("seconds").get<double>();
    return summary;
  });
}

}  // namespace heddle::store
