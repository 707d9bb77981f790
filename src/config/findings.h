// What reading a configuration found out: what is wrong, what has no effect, and where each value
// came from. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/node.h"

namespace vesta::config {

enum class Source : uint8_t { kDefault, kFile, kEnvironment, kFlag };

// Where a value came from.
struct Origin {
  Source source = Source::kDefault;
  std::string name;  // of the file, the variable, the flag with its dashes
  Position at;       // in a file
  std::string key;   // under which it was given, when that is another name of the one it is under

  std::string text() const;  // "default", "vesta.yaml:12", "VESTA_LOG_LEVEL", "--log-level"
};

// By key: "agent.profiling.sample_rate", "agent.exporters[0].endpoint". What is not there has its
// default.
using Origins = std::map<std::string, Origin, std::less<>>;

struct Finding {
  Position at;
  Error error;  // kUsage; the message begins with the place
};

struct Findings {
  static constexpr size_t kMost = 100;  // of each kind; more say nothing new

  // In the order of the file; what is not from a file comes last.
  std::vector<Finding> errors;
  std::vector<Finding> warnings;
  Origins origins;

  void add_error(Position at, Error error);
  void add_warning(Position at, Error warning);
  // The first error, if there is one.
  Status status() const;
  Origin origin_of(std::string_view key) const;
};

// The error with its place before the message: "vesta.yaml:3:5: ".
Error located(std::string_view name, Position at, Error error);
std::string located(std::string_view name, Position at, std::string_view message);

// A word of a file for a message: cut, without control characters.
std::string shown(std::string_view word);

}  // namespace vesta::config
