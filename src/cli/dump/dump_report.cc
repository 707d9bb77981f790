#include "cli/dump/dump_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json_writer.h"
#include "base/text.h"
#include "profile/frame_name.h"

namespace vesta::cli {
namespace {

std::string place_of(const agent::DumpFrame& frame) {
  if (frame.is_kernel) return "[kernel]";
  if (!frame.file.empty())
    return frame.line == 0 ? frame.file : fmt::format("{}:{}", frame.file, frame.line);
  return frame.binary.empty() ? "" : fmt::format("[{}]", base_name(frame.binary));
}

std::string frame_text(size_t number, const agent::DumpFrame& frame, const TextStyle& style) {
  std::string line = fmt::format("{:>4}  {}{}", number, printable(frame.function),
                                 frame.is_inlined ? style.dim(" (inlined)") : "");
  if (const std::string place = place_of(frame); !place.empty())
    line += "  " + style.dim(printable(place));
  return line + "\n";
}

// A frame of a folded line must not end it or part it.
std::string folded_name(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, ';', ':');
  std::ranges::replace(out, '\n', ' ');
  return out.empty() ? "[unknown]" : out;
}

}  // namespace

std::string dump_text(const agent::ThreadDump& dump, const TextStyle& style) {
  std::string out;
  for (const agent::DumpedProcess& process : dump.processes) {
    const size_t count = process.threads.size();
    out += style.bold(fmt::format("process {} {}", process.pid, printable(process.name)));
    if (!process.executable.empty()) out += fmt::format(" ({})", printable(process.executable));
    out += fmt::format(", {} thread{}\n", count, count == 1 ? "" : "s");
    for (const agent::DumpedThread& thread : process.threads) {
      out += fmt::format(
          "\n{}, {}\n", style.bold(fmt::format("thread {} {}", thread.tid, printable(thread.name))),
          thread.state);
      for (size_t i = 0; i < thread.frames.size(); ++i)
        out += frame_text(i, thread.frames[i], style);
      if (!thread.problem.empty())
        out += "      " + style.red(fmt::format("[incomplete: {}]", thread.problem)) + "\n";
    }
    out += "\n";
  }
  return out;
}

std::string dump_json(const agent::ThreadDump& dump) {
  JsonWriter out(1);
  out.begin_object().key("processes").begin_array();
  for (const agent::DumpedProcess& process : dump.processes) {
    out.begin_object()
        .field("pid", uint64_t{process.pid})
        .field("name", process.name)
        .field("executable", process.executable);
    out.key("threads").begin_array();
    for (const agent::DumpedThread& thread : process.threads) {
      out.begin_object()
          .field("tid", uint64_t{thread.tid})
          .field("name", thread.name)
          .field("state", thread.state)
          .field("complete", thread.problem.empty());
      if (!thread.problem.empty()) out.field("problem", thread.problem);
      out.key("frames").begin_array();
      for (const agent::DumpFrame& frame : thread.frames) {
        out.begin_object().field("function", frame.function);
        if (!frame.file.empty()) out.field("file", frame.file);
        if (frame.line != 0) out.field("line", uint64_t{frame.line});
        if (!frame.binary.empty()) out.field("binary", frame.binary);
        if (frame.is_inlined) out.field("inlined", true);
        if (frame.is_kernel) out.field("kernel", true);
        out.end_object();
      }
      out.end_array().end_object();
    }
    out.end_array().end_object();
  }
  out.end_array().end_object();
  return out.take() + "\n";
}

std::string dump_folded(const agent::ThreadDump& dump) {
  std::map<std::string, uint64_t> stacks;
  for (const agent::DumpedProcess& process : dump.processes) {
    for (const agent::DumpedThread& thread : process.threads) {
      std::string stack = fmt::format("{};{}", folded_name(process.name), folded_name(thread.name));
      if (!thread.problem.empty()) stack += fmt::format(";[incomplete: {}]", thread.problem);
      for (size_t i = thread.frames.size(); i-- > 0;)
        stack += ";" + folded_name(thread.frames[i].function);
      ++stacks[stack];
    }
  }
  std::string out;
  for (const auto& [stack, count] : stacks) out += fmt::format("{} {}\n", stack, count);
  return out;
}

}  // namespace vesta::cli
