#include "profile/frame_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "profile/source_path.h"

namespace vesta {

size_t frame_count(const Dictionary& dictionary, LocationId location) {
  return std::max<size_t>(1, dictionary.lines[location].size());
}

std::string frame_name(const Dictionary& dictionary, LocationId location, size_t line_index) {
  const auto lines = dictionary.lines[location];
  if (line_index < lines.size()) {
    const Function& function = dictionary.function(lines[line_index].function);
    if (function.name) return std::string(dictionary.string(function.name));
    if (function.system_name) return std::string(dictionary.string(function.system_name));
  }
  const Location& place = dictionary.location(location);
  const Mapping& mapping = dictionary.mapping(place.mapping);
  const std::string_view binary = base_name(dictionary.string(mapping.file));
  if (!binary.empty() && place.address != 0) {
    return place_name(binary, place.address - mapping.start + mapping.file_offset);
  }
  if (place.address != 0) return fmt::format("{:#x}", place.address);
  return "[unknown]";
}

std::string place_name(std::string_view binary, uint64_t start) {
  return fmt::format("{}+{:#x}", base_name(binary), start);
}

bool is_place_name(std::string_view name, std::string_view binary) {
  const std::string_view base = base_name(binary);
  constexpr std::string_view kPlus = "+0x";
  if (base.empty() || !name.starts_with(base)) return false;
  name.remove_prefix(base.size());
  if (!name.starts_with(kPlus)) return false;
  name.remove_prefix(kPlus.size());
  return !name.empty() && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string display_text(const FrameName& name, Granularity granularity) {
  if (granularity == Granularity::kFunction && !name.name.empty()) return std::string(name.name);
  const std::string_view binary =
      name.name == name.binary ? name.binary : base_name(name.binary);  // labels are their own
  if (granularity == Granularity::kBinary)
    return std::string(binary.empty() ? "<unknown>" : binary);
  std::string text;
  const auto add = [&](std::string_view part) {
    if (!text.empty()) text += ' ';
    text += part;
  };
  std::string scratch;
  const std::string_view file = clean_source_path(name.file, scratch);
  if (name.address != 0) text = fmt::format("{:016x}", name.address);
  if (!name.name.empty()) add(name.name);
  if (name.line != 0 && name.column != 0) {
    add(fmt::format("{}:{}:{}", file, name.line, name.column));
  } else if (name.line != 0) {
    add(fmt::format("{}:{}", file, name.line));
  } else if (!file.empty()) {
    add(file);
  } else if (name.name.empty()) {
    add(binary.empty() ? std::string("<unknown>") : fmt::format("[{}]", binary));
  }
  return text;
}

}  // namespace vesta
