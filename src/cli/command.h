// What a command is: a name, its flags as a table, and a function to run. Help, parsing, "did you
// mean" and shell completion all come from that one table. Plain data; a Command is built once and
// only read afterwards.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/console.h"

namespace vesta::cli {

enum ExitCode : int {
  kOk = 0,
  kFailure = 1,
  kUsage = 2,
  kNoData = 4,
};

struct Flag {
  std::string name;   // without dashes
  char letter = 0;    // short form, or 0
  std::string value;  // what the value is called in help ("RE"); empty for a switch
  std::string help;
  std::vector<std::string> choices = {};  // the only values allowed; empty = any
  bool repeats = false;                   // may be given several times, and each counts
  bool is_list = false;  // of choices, separated by commas; the command checks each
};

// What was typed, checked against the table.
class Arguments {
 public:
  std::vector<std::string> positional;
  size_t words_before_dashes = 0;  // of positional, those typed before "--"

  bool has(const std::string& flag) const { return values_.contains(flag); }
  // The last one given.
  std::string get(const std::string& flag, const std::string& fallback = {}) const;
  // All of them, in the order in which they were given.
  std::vector<std::string> all(const std::string& flag) const;
  // The same, where each may be a list separated by commas.
  std::vector<std::string> list(const std::string& flag) const;
  // kUsage unless the value is a whole number in the range.
  Result<int64_t> integer(const std::string& flag, int64_t fallback, int64_t low,
                          int64_t high) const;
  // "2GiB", "512m".
  Result<uint64_t> bytes(const std::string& flag, uint64_t fallback) const;
  void set(const std::string& flag, std::string value) { values_[flag] = {std::move(value)}; }
  void add(const std::string& flag, std::string value) {
    values_[flag].push_back(std::move(value));
  }
  void unset(const std::string& flag) { values_.erase(flag); }

 private:
  std::map<std::string, std::vector<std::string>> values_;  // none is empty
};

struct Command {
  std::string name;
  std::string summary;    // one line for the list of commands
  std::string arguments;  // "SOURCE…"
  std::string description = {};
  std::vector<std::string> examples = {};  // "vesta top cpu.pb.gz  # what it does"
  size_t min_arguments = 0;
  size_t max_arguments = SIZE_MAX;
  std::vector<Flag> flags = {};
  std::function<Result<int>(const Arguments&, Console&)> run = {};
};

// kUsage, with a suggestion, for a flag that the command does not have. A word behind one dash is a
// whole name, as pprof has it (-focus=x, -lines); it is never taken apart into a letter and the
// rest, unless the rest cannot be part of a name (-n7) or is one of the choices (-ojson).
Result<Arguments> parse_arguments(const Command& command, const std::vector<std::string>& words);

// What a command does beyond its summary, and what its SOURCE may be.
std::string description_of(const Command& command);
std::string help_text(const Command& command, const TextStyle& style);
std::string overview_text(const std::vector<Command>& commands, const TextStyle& style);

}  // namespace vesta::cli
