#include "profile/frame_name.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace vesta
