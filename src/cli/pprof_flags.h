// pprof's names for flags that Vesta spells otherwise, so that what people and scripts type for
// `go tool pprof` keeps its meaning. A table; parse_arguments() asks it for names that a command
// does not have itself. Plain data.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vesta::cli {

enum class PprofValue {
  kSame,      // -tagfocus=x is --tag-focus x
  kFixed,     // -lines is --granularity line
  kFraction,  // -nodefraction=0.01 is --min-share 1
};

struct PprofFlag {
  std::string_view name;  // dashes in place of underscores
  std::string_view flag;  // ours
  PprofValue kind = PprofValue::kSame;
  std::string_view value = {};  // kFixed
};

// nullptr when pprof has none of that name, or the same.
const PprofFlag* find_pprof_flag(std::string_view name);

// Makes of what was typed behind `=` what our flag takes. kUsage when it is not valid there.
Status translate(const PprofFlag& flag, std::optional<std::string>& value);

// Where to find what a flag of pprof does, for those that are commands here or that Vesta does not
// have; empty for a word that is none of them.
std::string_view place_of_pprof_flag(std::string_view name);
// The command that prints what pprof prints for -top, -text, -tree …; empty for other words.
std::string_view command_of_pprof_report(std::string_view name);

}  // namespace vesta::cli
