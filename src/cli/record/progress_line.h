// The line that tells how a recording goes, drawn over itself on a terminal and left out where
// there is none. Borrows the console.
#pragma once

#include <cstdint>
#include <string>

#include "agent/profiles/recording.h"
#include "cli/console.h"

namespace vesta::cli {

// "complete stacks 99.98%, named frames 97.1%, lost 0" and a newline.
std::string coverage_text(const agent::Recording::Progress& progress);

class ProgressLine {
 public:
  explicit ProgressLine(Console& console) : console_(console) {}
  // False where there is no terminal: then nothing is to be shown.
  bool is_visible() const { return console_.err_is_terminal(); }
  // `duration_ns` 0 = open end.
  void show(int64_t elapsed_ns, int64_t duration_ns, const agent::Recording::Progress& progress);
  void clear();

 private:
  Console& console_;
  bool is_shown_ = false;
};

}  // namespace vesta::cli
