#include "cli/record/progress_line.h"

#include <fmt/format.h>

#include "agent/profiles/profile_builder.h"
#include "base/units.h"

namespace vesta::cli {
namespace {

std::string exact_share(uint64_t part, uint64_t whole) {
  // "100 %" only for all of them: one broken stack in a million must not be rounded away.
  if (whole == 0) return "–";
  if (part == whole) return "100%";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.2f}%", percent > 99.99 ? 99.99 : percent);
}

}  // namespace

std::string coverage_text(const agent::Recording::Progress& progress) {
  const agent::StackCoverage& coverage = progress.coverage;
  std::string text =
      fmt::format("complete stacks {}, named frames {}, lost {}",
                  exact_share(coverage.complete_stacks, coverage.samples),
                  exact_share(coverage.named_frames, coverage.frames), format_count(progress.lost));
  if (coverage.decoded_frames != 0) {
    text += fmt::format(", frames found without unwind tables {}",
                        exact_share(coverage.decoded_frames, coverage.frames));
  }
  if (coverage.guessed_frames != 0)
    text += fmt::format(", guessed callers {}", format_count(coverage.guessed_frames));
  return text + '\n';
}

void ProgressLine::show(int64_t elapsed_ns, int64_t duration_ns,
                        const agent::Recording::Progress& progress) {
  if (!console_.err_is_terminal()) return;
  const double elapsed = static_cast<double>(elapsed_ns) / 1e9;
  std::string text = duration_ns == 0 ? fmt::format("{:.1f}s", elapsed)
                                      : fmt::format("{:.1f}s of {:.1f}s", elapsed,
                                                    static_cast<double>(duration_ns) / 1e9);
  const agent::StackCoverage& coverage = progress.coverage;
  text += fmt::format("  {} samples  lost {}  complete stacks {}  named frames {}",
                      format_count(progress.samples), format_count(progress.lost),
                      exact_share(coverage.complete_stacks, coverage.samples),
                      exact_share(coverage.named_frames, coverage.frames));
  console_.draw_status(text);
  is_shown_ = true;
}

void ProgressLine::clear() {
  if (is_shown_) console_.draw_status({});
  is_shown_ = false;
}

}  // namespace vesta::cli
