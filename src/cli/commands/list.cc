#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
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

Result<int> run(const Arguments& given, Console& console) {
  Arguments arguments = given;
  const std::string pattern = arguments.positional[0];
  arguments.positional.erase(arguments.positional.begin());
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, 20));
  VESTA_ASSIGN(const MergedProfile profile, load_profile(arguments, console));
  VESTA_ASSIGN(const std::vector<FunctionLines> functions,
               source_lines(profile, filters_of(arguments), pattern));
  if (functions.empty()) {
    return Error{ErrorCode::kNoData, fmt::format("no function matches '{}'", pattern),
                 "vesta top SOURCE lists the functions"};
  }
  std::map<std::string, std::string> texts;
  std::vector<std::string> sources;
  for (const FunctionLines& function : functions) {
    const auto [place, is_new] = texts.try_emplace(function.file);
    if (is_new && !function.file.empty())
      place->second = find_source(function.file, folders_of(arguments));
    sources.push_back(place->second);
  }
  VESTA_TRY(console.print(list_report(profile, functions, sources, options)));
  return kOk;
}

}  // namespace

Command list_command() {
  Command c;
  c.name = "list";
  c.summary = "The source of the functions that match, with the weight of each line";
  c.arguments = "RE SOURCE…";
  c.examples = {"vesta list 'main\\.work' cpu.pb.gz",
                "vesta list handle cpu.pb.gz --source-path ~/src/shop:~/go/src"};
  c.min_arguments = 2;
  c.flags = with_flags(
      {{"source-path", 0, "DIRS",
        "folders to look for sources in, separated by colons (default .)"}},
      {without(filter_flags(), {"granularity", "no-inlines", "relative", "tag-root", "tag-leaf"}),
       report_flags(), input_flags()});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
