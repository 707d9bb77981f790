// The kinds of line that `perf script` prints, each recognised on its own. Views point into the
// line. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace vesta::perfscript {

// "0x"-less hexadecimal address, then what is known of it: "  7f12 read+0x4 (/lib/libc.so.6)".
struct FrameLine {
  std::string_view text;  // the whole line, trimmed
  uint64_t address = 0;
  std::string_view symbol;  // without offset; empty when perf knows none
  std::string_view dso;     // empty when perf knows none
  bool is_inlined = false;
  std::string_view file;  // from a SourceLine that follows
  int64_t line = 0;
};

// "comm 12/34 [001] 5.678: 1000 cycles:u: …"; all but the event or the time may be missing.
struct HeaderLine {
  std::string_view comm;
  std::optional<int64_t> pid;
  std::optional<int64_t> tid;
  std::optional<int64_t> cpu;
  std::optional<int64_t> time_ns;
  std::optional<int64_t> period;
  std::string_view event;          // without modifiers; empty when perf was told to leave it out
  std::optional<FrameLine> frame;  // samples without a stack have their address here

  // Words that end in a colon are found in many texts; with one of these it is surely a header.
  bool is_certain() const { return pid || tid || time_ns; }
};

// "main.c:12"
struct SourceLine {
  std::string_view file;  // empty when perf says that it does not know
  int64_t line = 0;
};

std::optional<HeaderLine> parse_header(std::string_view line);
// "comm 12/34 [001]": neither a time nor an event, so that only the frames below it tell it from
// other text.
std::optional<HeaderLine> parse_bare_header(std::string_view line);
std::optional<FrameLine> parse_frame(std::string_view line);
std::optional<SourceLine> parse_source_line(std::string_view line);

// Another record than a sample ("… PERF_RECORD_MMAP2 …").
bool is_other_record(std::string_view line);
// How many events such a record says the kernel dropped.
uint64_t lost_events(std::string_view line);

// "cpu-clock:uhpppp" -> "cpu-clock"; "sched:sched_switch" stays.
std::string_view without_modifiers(std::string_view event);

bool is_kernel_dso(std::string_view dso);

}  // namespace vesta::perfscript
