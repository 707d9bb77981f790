#include "cli/live/live_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "agent/profiles/profile_builder.h"
#include "base/units.h"

namespace vesta::cli {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// Cut to the terminal, not within a character.
std::string cut(std::string text, size_t width) {
  if (width == 0) return text;
  size_t columns = 0;
  size_t at = 0;
  while (at < text.size() && columns < width) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
    ++columns;
  }
  text.resize(at);
  return text;
}

std::string share(uint64_t part, uint64_t whole) {
  return whole == 0 ? "–" : format_percent(static_cast<double>(part), static_cast<double>(whole));
}

std::string head(const LiveProfile::Window& window, const LiveTableOptions& options) {
  const auto total = static_cast<double>(window.frames.total);
  const double cpus = window.duration_ns == 0 ? 0 : total / static_cast<double>(window.duration_ns);
  const agent::StackCoverage& coverage = window.coverage;
  const std::string first = fmt::format(
      "{}: {:.2f} CPUs over the last {:.1f}s, {} samples at {} Hz{}{}", printable(options.what),
      cpus, static_cast<double>(window.duration_ns) / 1e9, format_count(window.samples),
      options.frequency,
      options.filter.empty() ? "" : fmt::format(", filter '{}'", printable(options.filter)),
      options.is_paused ? ", paused" : "");
  const std::string second =
      fmt::format("complete stacks {}, named frames {}, lost {}",
                  share(coverage.complete_stacks, coverage.samples),
                  share(coverage.named_frames, coverage.frames), format_count(options.lost));
  const size_t width = options.style.width;
  return options.style.bold(cut(first, width)) + "\n" + options.style.dim(cut(second, width)) +
         "\n";
}

}  // namespace

std::string live_table(const LiveProfile::Window& window, const LiveTableOptions& options) {
  const FrameProfile& frames = window.frames;
  const TextStyle& style = options.style;
  std::string out = head(window, options);
  const bool by_self = options.order == TopOrder::kByFlat;
  out += style.bold(cut(fmt::format("{:>8} {:>8} {:>10}  {}", by_self ? "Self%↓" : "Self%",
                                    by_self ? "Cum%" : "Cum%↓", "Self", "Function"),
                        style.width)) +
         "\n";
  const std::string wanted = lower(options.filter);
  const auto total = static_cast<double>(frames.total);
  size_t shown = 0;
  const FunctionTable table = top_functions(frames, {.order = options.order});
  for (const FunctionRow& row : table.rows) {
    if (options.max_rows != 0 && shown >= options.max_rows) break;
    const std::string name = printable(table.names->text(row.name));
    const auto place_of = window.binaries.find(frames.frame(FrameId(row.name)).name);
    const std::string binary = place_of == window.binaries.end() ? "" : printable(place_of->second);
    if (!wanted.empty() && lower(name).find(wanted) == std::string::npos &&
        lower(binary).find(wanted) == std::string::npos)
      continue;
    ++shown;
    const auto percent = [&](int64_t value) {
      return format_percent(static_cast<double>(value), total);
    };
    const std::string numbers = fmt::format("{:>8} {:>8} {:>10}", percent(row.flat),
                                            percent(row.cum), format_value(row.flat, frames.unit));
    std::string place = name;
    if (!binary.empty() && name.find(binary) == std::string::npos)
      place += fmt::format("  [{}]", binary);
    const size_t left = style.width > numbers.size() + 2 ? style.width - numbers.size() - 2 : 0;
    out += style.heat(numbers, total == 0 ? 0 : static_cast<double>(row.flat) / total) + "  " +
           (style.width == 0 ? place : cut(place, std::max<size_t>(left, 1))) + "\n";
  }
  if (shown == 0) out += frames.total == 0 ? "  no CPU used\n" : "  nothing matches the filter\n";
  return out;
}

}  // namespace vesta::cli
