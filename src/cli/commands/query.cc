#include <fmt/format.h>
#include <simdjson.h>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"

namespace vesta::cli {
namespace {

constexpr uint64_t kMaxAnswer = uint64_t{256} << 20;

using Element = simdjson::dom::element;

std::string text_of(Element object, const char* name) {
  std::string_view text;
  return object[name].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

// One line for each type: its id, and whether it adds up over time.
std::string types_text(Element answer) {
  std::string out;
  simdjson::dom::array types;
  if (answer["types"].get(types) != simdjson::SUCCESS) return out;
  for (const Element type : types) {
    out += fmt::format("{:<60} {}\n", text_of(type, "id"), text_of(type, "temporality"));
  }
  return out;
}

std::string strings_text(Element answer, const char* name) {
  std::string out;
  simdjson::dom::array items;
  if (answer[name].get(items) != simdjson::SUCCESS) return out;
  for (const Element item : items) {
    std::string_view text;
    if (item.get(text) == simdjson::SUCCESS) out += fmt::format("{}\n", text);
  }
  return out;
}

std::string series_text(Element answer) {
  std::string out;
  simdjson::dom::array all;
  if (answer["series"].get(all) != simdjson::SUCCESS) return out;
  for (const Element series : all) {
    simdjson::dom::object labels;
    if (series["labels"].get(labels) != simdjson::SUCCESS) continue;
    std::string line;
    std::string type;
    for (const auto& [key, value] : labels) {
      std::string_view text;
      if (value.get(text) != simdjson::SUCCESS) continue;
      if (key == "__profile_type__") type = text;
      if (key.starts_with("__")) continue;  // parts of the type, said once
      line += fmt::format("{}{}=\"{}\"", line.empty() ? "" : ", ", key, text);
    }
    out += fmt::format("{}{{{}}}\n", type, line);
  }
  return out;
}

Result<int> run(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ServerClient client, ServerClient::from(arguments));
  const std::string& what = arguments.positional[0];
  const bool is_values = what == "values";
  const size_t own = is_values ? 2 : 1;
  if (is_values && arguments.positional.size() < 2) {
    return Error{ErrorCode::kUsage, "of which label?",
                 "for example: vesta query values service_name"};
  }
  if (arguments.positional.size() > own + 1)
    return Error{ErrorCode::kUsage, "one selector at most", ""};
  ServerClient::Parameters parameters = range_of(arguments);
  if (arguments.positional.size() == own + 1)
    parameters.emplace_back("query", arguments.positional[own]);
  std::string path = "/api/v1/" + what;
  if (is_values) path += "/" + arguments.positional[1];
  if (what != "types" && what != "labels" && what != "series" && !is_values) {
    return Error{ErrorCode::kUsage, fmt::format("'{}' is nothing to query", what),
                 "there are: types, labels, values LABEL, series"};
  }
  VESTA_ASSIGN(const std::string answer, client.get(path, parameters, kMaxAnswer));
  if (arguments.get("output", "text") == "json") {
    VESTA_TRY(console.print(answer + "\n"));
    return kOk;
  }
  simdjson::dom::parser parser;
  Element document;
  if (parser.parse(answer).get(document) != simdjson::SUCCESS)
    return Error{ErrorCode::kIo, "the server's answer is not JSON", "is it a Vesta server?"};
  const std::string text = what == "types"    ? types_text(document)
                           : what == "series" ? series_text(document)
                           : is_values        ? strings_text(document, "values")
                                              : strings_text(document, "labels");
  if (text.empty()) {
    console.note("nothing in this range");
    return kNoData;
  }
  VESTA_TRY(console.print(text));
  return kOk;
}

}  // namespace

Command query_command() {
  Command c;
  c.name = "query";
  c.summary = "What a server has: types, labels, values of a label, series";
  c.arguments = "types|labels|values LABEL|series [SELECTOR]";
  c.examples = {"vesta query types", "vesta query values service_name",
                "vesta query series '{service_name=\"checkout\"}' --from -24h",
                "vesta query labels -o json --server http://profiles:4040"};
  c.min_arguments = 1;
  c.max_arguments = 3;
  c.flags = with_flags({{"output", 'o', "FORMAT", "text or json (default text)", {"text", "json"}}},
                       {server_flags()});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
