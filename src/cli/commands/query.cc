#include <fmt/format.h>

#include "base/json_reader.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"

namespace vesta::cli {
namespace {

constexpr uint64_t kMaxAnswer = uint64_t{256} << 20;

// One line for each type: its id, and whether it adds up over time.
std::string types_text(const Json& answer) {
  std::string out;
  for (const Json& type : answer["types"].list().value_or({})) {
    out += fmt::format("{:<60} {}\n", type["id"].text().value_or(""),
                       type["temporality"].text().value_or(""));
  }
  return out;
}

std::string strings_text(const Json& answer, const char* name) {
  std::string out;
  for (const Json& item : answer[name].list().value_or({})) {
    if (const auto text = item.text(); text.ok()) out += fmt::format("{}\n", *text);
  }
  return out;
}

std::string series_text(const Json& answer) {
  std::string out;
  for (const Json& series : answer["series"].list().value_or({})) {
    const auto labels = series["labels"].fields();
    if (!labels.ok()) continue;
    std::string line;
    std::string type;
    for (const auto& [key, value] : *labels) {
      const auto text = value.text();
      if (!text.ok()) continue;
      if (key == "__profile_type__") type = *text;
      if (key.starts_with("__")) continue;  // parts of the type, said once
      line += fmt::format("{}{}=\"{}\"", line.empty() ? "" : ", ", key, *text);
    }
    out += fmt::format("{}{{{}}}\n", type, line);
  }
  return out;
}

Result<int> run_query(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ServerClient client, ServerClient::from(arguments));
  const std::string& what = arguments.positional[0];
  const bool is_values = what == "values";
  const size_t own = is_values ? 2 : 1;
  if (is_values && arguments.positional.size() < 2) {
    return Error{ErrorCode::kUsage, "values needs a label name",
                 "for example: vesta query values service_name"};
  }
  if (arguments.positional.size() > own + 1)
    return Error{ErrorCode::kUsage, "query takes one selector", ""};
  ServerClient::Parameters parameters = range_of(arguments);
  if (arguments.positional.size() == own + 1)
    parameters.emplace_back("query", arguments.positional[own]);
  std::string path = "/api/v1/" + what;
  if (is_values) path += "/" + arguments.positional[1];
  if (what != "types" && what != "labels" && what != "series" && !is_values) {
    return Error{ErrorCode::kUsage, fmt::format("unknown query '{}'", what),
                 "use types, labels, values LABEL or series"};
  }
  VESTA_ASSIGN(const std::string answer, client.get(path, parameters, kMaxAnswer));
  if (arguments.get("output", "text") == "json") {
    VESTA_TRY(console.print(answer + "\n"));
    return kOk;
  }
  const auto tree = JsonTree::parse(answer);
  if (!tree.ok())
    return Error{ErrorCode::kIo, "the server's answer is " + tree.error().message,
                 "check that --server is a Vesta server"};
  const Json document = tree->root();
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
  c.summary = "List the types, labels, label values or series of a server";
  c.arguments = "types|labels|values LABEL|series [SELECTOR]";
  c.examples = {"vesta query types", "vesta query values service_name",
                "vesta query series '{service_name=\"checkout\"}' --from -24h",
                "vesta query labels -o json --server http://profiles:4040"};
  c.min_arguments = 1;
  c.max_arguments = 3;
  c.flags = with_flags({{"output", 'o', "FORMAT", "text or json (default text)", {"text", "json"}}},
                       {server_flags()});
  c.run = run_query;
  return c;
}

}  // namespace vesta::cli
