#include <cstdlib>

#include "agent/metadata/attributes.h"
#include "agent/metadata/command_name.h"
#include "agent/metadata/environment.h"
#include "agent/metadata/program_name.h"
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
  const std::string_view name = kNames[data[0] % std::size(kNames)];
  if (program_of_interpreter(name, split_command_line(text)).name.size() > 128) std::abort();
  if (program_name({name, text.substr(0, 15), text, [&] { return std::string(text); }}).size() >
      257)
    std::abort();
  runtime_of_executable(text);
  MappedRuntimes mapped;
  mapped.note(text);
  java_version(text);
  matches_glob(text.substr(0, text.size() / 2), text.substr(text.size() / 2));
  return 0;
}
