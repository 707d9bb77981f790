#include "formats/jfr/jvm_information.h"

#include <algorithm>

namespace vesta::jfr {
namespace {

constexpr size_t kMaxServiceBytes = 256;

// The value of `service.name` among "key=value,key=value".
std::string_view service_among(std::string_view attributes) {
  while (!attributes.empty()) {
    const std::string_view item = attributes.substr(0, attributes.find(','));
    attributes.remove_prefix(std::min(item.size() + 1, attributes.size()));
    constexpr std::string_view kKey = "service.name=";
    if (item.starts_with(kKey)) return item.substr(kKey.size());
  }
  return {};
}

// Calls `use(key, value)` for each word "PREFIXkey=value". Words with blanks in quotes come apart,
// as the recording has it: at worst a name is cut there.
template <class Use>
void for_each_definition(std::string_view arguments, std::string_view prefix, Use&& use) {
  while (!arguments.empty()) {
    const std::string_view word = arguments.substr(0, arguments.find(' '));
    arguments.remove_prefix(std::min(word.size() + 1, arguments.size()));
    const size_t equals = word.find('=');
    if (!word.starts_with(prefix) || equals == std::string_view::npos || equals < prefix.size())
      continue;
    use(word.substr(prefix.size(), equals - prefix.size()), word.substr(equals + 1));
  }
}

}  // namespace

std::string version_of(std::string_view jvm_version) {
  const size_t open = jvm_version.find('(');
  const size_t close = jvm_version.find(')', open);
  if (open == std::string_view::npos || close == std::string_view::npos)
    return std::string(jvm_version);
  return std::string(jvm_version.substr(open + 1, close - open - 1));
}

void JvmInformation::add_property(std::string_view key, std::string_view value) {
  if (key == "sun.java.command") return add_command(value);
  if (key == "otel.resource.attributes") {
    key = "otel.service.name";
    value = service_among(value);
    if (!service_names_[0].empty()) return;  // the property of that name wins
  }
  if (value.empty() || value.size() > kMaxServiceBytes) return;
  for (size_t i = 0; i < kServiceKeys.size(); ++i)
    if (key == kServiceKeys[i]) service_names_[i] = value;
}

void JvmInformation::add_command(std::string_view command) {
  std::string_view word = command.substr(0, command.find(' '));
  if (word.ends_with(".jar")) word = word.substr(word.rfind('/') + 1);
  if (main_class.empty()) main_class = word;
  for_each_definition(command, "--", [&](std::string_view key, std::string_view value) {
    // Spring takes its settings from the program's arguments too.
    if (key == "spring.application.name") add_property(key, value);
  });
}

void JvmInformation::add_jvm_arguments(std::string_view arguments) {
  for_each_definition(arguments, "-D", [&](std::string_view key, std::string_view value) {
    if (key != "sun.java.command") add_property(key, value);
  });
}

const std::string& JvmInformation::service_name() const {
  for (const std::string& candidate : service_names_)
    if (!candidate.empty()) return candidate;
  return service_names_[0];
}

}  // namespace vesta::jfr
