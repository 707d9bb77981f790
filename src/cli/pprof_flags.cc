#include "cli/pprof_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace vesta::cli {
namespace {

using enum PprofValue;

constexpr auto kFlags = std::to_array<PprofFlag>({
    {"tagfocus", "tag-focus"},
    {"tagignore", "tag-ignore"},
    {"tagshow", "tag-show"},
    {"taghide", "tag-hide"},
    {"tagroot", "tag-root"},
    {"tagleaf", "tag-leaf"},
    {"nodecount", "nodes"},
    {"nodefraction", "min-share", kFraction},
    {"edgefraction", "min-edge-share", kFraction},
    {"noinlines", "no-inlines"},
    {"relative-percentages", "relative"},
    {"sample-index", "type"},
    {"functions", "granularity", kFixed, "function"},
    {"filefunctions", "granularity", kFixed, "file-function"},
    {"files", "granularity", kFixed, "file"},
    {"lines", "granularity", kFixed, "line"},
    {"addresses", "granularity", kFixed, "address"},
    {"inuse-space", "type", kFixed, "inuse_space"},
    {"inuse-objects", "type", kFixed, "inuse_objects"},
    {"alloc-space", "type", kFixed, "alloc_space"},
    {"alloc-objects", "type", kFixed, "alloc_objects"},
    {"total-delay", "type", kFixed, "delay"},
    {"contentions", "type", kFixed, "contentions"},
    {"normalize", "mode", kFixed, "normalized"},
    {"flat", "cum", kFixed, "false"},
});

struct Place {
  std::string_view name;
  std::string_view hint;
};

constexpr auto kPlaces = std::to_array<Place>({
    {"http", "try vesta web SOURCE"},
    {"web", "try vesta web SOURCE"},
    {"weblist", "try vesta list RE SOURCE or vesta web SOURCE"},
    {"svg", "try vesta convert SOURCE -o flame.svg"},
    {"png", "try vesta convert SOURCE -o flame.svg"},
    {"pdf", "try vesta convert SOURCE -o flame.svg"},
    {"proto", "try vesta convert SOURCE -o cpu.pb.gz"},
    {"callgrind", "try vesta convert SOURCE -o FILE; its help lists the formats"},
    {"call-tree", "try vesta flame SOURCE, which keeps call paths apart"},
    {"raw", "try vesta traces -n 0 SOURCE"},
    {"diff-base", "try vesta diff BEFORE AFTER"},
    {"normalize", "try vesta diff --mode normalized BEFORE AFTER"},
    {"trim", "--nodes 0 shows all rows"},
    {"symbolize", "Vesta uses the names in the profile and does not symbolize files"},
    {"buildid", "Vesta uses the names in the profile and does not symbolize files"},
});

struct ReportCommand {
  std::string_view report;
  std::string_view command;
};

constexpr auto kReports = std::to_array<ReportCommand>({
    {"top", "top"},
    {"text", "top"},
    {"tree", "tree"},
    {"peek", "peek"},
    {"list", "list"},
    {"traces", "traces"},
    {"raw", "traces"},
    {"tags", "labels"},
    {"http", "web"},
    {"web", "web"},
    {"svg", "convert"},
    {"proto", "convert"},
    {"diff_base", "diff"},
});

std::string dashed(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '_', '-');
  return out;
}

}  // namespace

const PprofFlag* find_pprof_flag(std::string_view name) {
  const auto flag = std::ranges::find(kFlags, name, &PprofFlag::name);
  return flag == kFlags.end() ? nullptr : &*flag;
}

Status translate(const PprofFlag& flag, std::optional<std::string>& value) {
  if (flag.kind == kFixed) {
    if (value && *value != "true" && *value != "1") {
      return Error{ErrorCode::kUsage, fmt::format("-{} takes no value", flag.name),
                   fmt::format("--{} chooses another", flag.flag)};
    }
    value = std::string(flag.value);
  } else if (flag.kind == kFraction) {
    double fraction = -1;
    const std::string text = value.value_or("");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fraction);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(fraction >= 0 && fraction <= 1)) {
      return Error{ErrorCode::kUsage, fmt::format("-{} cannot be '{}'", flag.name, text),
                   fmt::format("use a fraction such as -{}=0.005", flag.name)};
    }
    value = fmt::format("{}", fraction * 100);
  }
  return {};
}

std::string_view place_of_pprof_flag(std::string_view name) {
  const auto place = std::ranges::find(kPlaces, dashed(name), &Place::name);
  return place == kPlaces.end() ? std::string_view() : place->hint;
}

std::string_view command_of_pprof_report(std::string_view name) {
  const auto report = std::ranges::find(kReports, name, &ReportCommand::report);
  return report == kReports.end() ? std::string_view() : report->command;
}

}  // namespace vesta::cli
