#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/json_reader.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_report.h"
#include "cli/source.h"

namespace vesta::cli {
namespace {

constexpr uint64_t kMaxSourceBytes = 64 << 20;

// Tries the path as recorded, then ever shorter tails of it below each folder to look in: a profile
// from a build machine names paths that are elsewhere here.
std::string find_source(const std::string& recorded, const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> candidates;
  const std::filesystem::path path(recorded);
  if (path.is_absolute()) candidates.push_back(path);
  for (const std::string& folder : folders) {
    std::filesystem::path tail = path.relative_path();
    while (!tail.empty()) {
      candidates.push_back(std::filesystem::path(folder) / tail);
      auto next = std::next(tail.begin());
      std::filesystem::path shorter;
      for (; next != tail.end(); ++next) shorter /= *next;
      tail = shorter;
    }
  }
  for (const auto& candidate : candidates) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(candidate, error)) continue;
    if (const auto file = InputFile::open(candidate.string(), kMaxSourceBytes); file.ok())
      return std::string(file->bytes());
  }
  return {};
}

std::vector<std::string> folders_of(const Arguments& arguments) {
  std::vector<std::string> folders;
  std::string list = arguments.get("source-path", ".");
  while (!list.empty()) {
    const size_t colon = list.find(':');
    folders.push_back(list.substr(0, colon));
    list = colon == std::string::npos ? "" : list.substr(colon + 1);
  }
  return folders;
}

// Lines with their weights, and what their report says first.
struct Listing {
  ReportHeader header;
  std::vector<FunctionLines> functions;
};

Result<FunctionLines> parse_function(const Json& json) {
  FunctionLines function;
  VESTA_ASSIGN(function.function, json["name"].text());
  VESTA_ASSIGN(function.file, json["file"].text());
  VESTA_ASSIGN(function.start_line, json["start_line"].integer());
  VESTA_ASSIGN(function.flat, json["flat"].integer());
  VESTA_ASSIGN(function.cum, json["cum"].integer());
  VESTA_ASSIGN(const auto lines, json["lines"].list());
  for (const Json& item : lines) {
    VESTA_ASSIGN(const int64_t line, item["line"].integer());
    VESTA_ASSIGN(function.lines[line].flat, item["flat"].integer());
    VESTA_ASSIGN(function.lines[line].cum, item["cum"].integer());
  }
  return function;
}

Result<Listing> parse_listing(std::string_view text) {
  VESTA_ASSIGN(const JsonTree tree, JsonTree::parse(text));
  const Json answer = tree.root();
  Listing listing;
  VESTA_ASSIGN(listing.header.type, answer["type"].text());
  VESTA_ASSIGN(listing.header.unit, answer["unit"].text());
  VESTA_ASSIGN(listing.header.total, answer["total"].integer());
  VESTA_ASSIGN(listing.header.time_ns, answer["time_ns"].integer());
  VESTA_ASSIGN(listing.header.duration_ns, answer["duration_ns"].integer());
  VESTA_ASSIGN(const auto losses, answer["coverage"]["losses"].list());
  for (const Json& loss : losses) {
    VESTA_ASSIGN(const std::string_view reason, loss["reason"].text());
    VESTA_ASSIGN(const int64_t count, loss["count"].integer());
    listing.header.losses.push_back({std::string(reason), static_cast<uint64_t>(count)});
  }
  VESTA_ASSIGN(const auto functions, answer["functions"].list());
  for (const Json& json : functions) {
    VESTA_ASSIGN(FunctionLines function, parse_function(json));
    listing.functions.push_back(std::move(function));
  }
  return listing;
}

// The server has the weights, and whoever types the command the source.
Result<Listing> ask_listing(const Arguments& arguments, const std::string& pattern) {
  auto parameters = report_parameters(arguments, {});
  std::erase_if(parameters, [](const auto& parameter) { return parameter.first == "format"; });
  parameters.emplace_back("query", query_of(arguments.positional[0], arguments));
  parameters.emplace_back("match", pattern);
  VESTA_ASSIGN(const HttpAnswer answer, ask_server("/api/v1/lines", parameters, arguments));
  auto listing = parse_listing(answer.body);
  if (!listing.ok()) return with_context(listing.error(), "cannot read the answer of the server");
  VESTA_TRY(check_unit(arguments, listing->header.unit));
  return listing;
}

Result<Listing> make_listing(const Arguments& arguments, const std::string& pattern,
                             Console& console) {
  VESTA_ASSIGN(const MergedProfile profile, load_profile(arguments, console));
  Listing listing{header_of(profile), {}};
  VESTA_ASSIGN(listing.functions, source_lines(profile, filters_of(arguments), pattern));
  if (!listing.functions.empty()) return listing;
  return Error{ErrorCode::kNoData, fmt::format("no function matches '{}'", pattern),
               "vesta top SOURCE lists the functions"};
}

Result<int> run_list(const Arguments& given, Console& console) {
  Arguments arguments = given;
  const std::string pattern = arguments.positional[0];
  arguments.positional.erase(arguments.positional.begin());
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, 20));
  auto listing = server_answers(arguments) ? ask_listing(arguments, pattern)
                                           : make_listing(arguments, pattern, console);
  if (!listing.ok()) return std::move(listing).error();
  std::map<std::string, std::string> texts;
  std::vector<std::string> sources;
  for (const FunctionLines& function : listing->functions) {
    const auto [place, is_new] = texts.try_emplace(function.file);
    if (is_new && !function.file.empty())
      place->second = find_source(function.file, folders_of(arguments));
    sources.push_back(place->second);
  }
  VESTA_TRY(console.print(list_report(listing->header, listing->functions, sources, options)));
  return kOk;
}

}  // namespace

Command list_command() {
  Command c;
  c.name = "list";
  c.summary = "Print the source of matching functions with the weight of each line";
  c.arguments = "RE SOURCE…";
  c.examples = {"vesta list 'main\\.work' cpu.pb.gz",
                "vesta list handle cpu.pb.gz --source-path ~/src/shop:~/go/src"};
  c.min_arguments = 2;
  c.flags = with_flags(
      {{"source-path", 0, "DIRS",
        "folders to search for sources, separated by colons (default .)"}},
      {without(filter_flags(), {"granularity", "no-inlines", "relative", "tag-root", "tag-leaf"}),
       report_flags(), input_flags()});
  c.run = run_list;
  return c;
}

}  // namespace vesta::cli
