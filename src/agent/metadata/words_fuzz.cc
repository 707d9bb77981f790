#include <cstdlib>

#include "agent/metadata/attributes.h"
#include "agent/metadata/command_name.h"
#include "agent/metadata/environment.h"
#include "agent/metadata/runtime.h"

// Environments, command lines, paths and patterns may be anything. The first byte chooses an
// interpreter.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vesta::agent;  // NOLINT(google-build-using-namespace): all of it is under test
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::vector<std::string> listed = {"A"};
  const Attributes environment = parse_environment(text, listed);
  if (environment.size() > 2 * kMaxOwnAttributes) std::abort();
  parse_resource_attributes(text);
  constexpr const char* kNames[] = {"python3", "java", "node", "ruby", "php", "perl", "bash"};
  if (program_of_interpreter(kNames[data[0] % std::size(kNames)], text).size() > 128) std::abort();
  runtime_of_executable(text);
  MappedRuntimes mapped;
  mapped.note(text);
  java_version(text);
  matches_glob(text.substr(0, text.size() / 2), text.substr(text.size() / 2));
  return 0;
}
