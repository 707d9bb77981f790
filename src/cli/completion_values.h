// What the shell offers behind a word, beyond commands and flags: processes, profile types, and the
// labels inside of a selector, which the server is asked for. Nothing is printed about a server
// that does not answer: completion is silent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace vesta::cli {

// The words that an argument may begin with: "init [FILE] | check FILE | show" has three.
std::vector<std::string> first_words(std::string_view arguments);

// Where in a selector the cursor stands.
struct SelectorPlace {
  enum class Kind { kType, kLabel, kValue, kNone };
  Kind kind = Kind::kNone;
  std::string head;     // of what was typed: stays as it is
  std::string partial;  // the rest, which a candidate begins with
  std::string label;    // kValue: whose
};
SelectorPlace selector_place(std::string_view typed);

// "1234\tnginx: worker": processes with their names, by number.
std::vector<std::string> process_candidates();
// Short names of types, and those that the server has.
std::vector<std::string> type_candidates(const Arguments& arguments);
// Selectors that go on from what was typed.
std::vector<std::string> selector_candidates(const Arguments& arguments, std::string_view typed);

}  // namespace vesta::cli
