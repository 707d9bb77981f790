#include "store/selection.h"

#include <fmt/format.h>

namespace vesta {

Result<ProfileType> ProfileType::parse(std::string_view id) {
  std::vector<std::string> parts;
  size_t from = 0;
  while (true) {
    const size_t colon = id.find(':', from);
    parts.emplace_back(id.substr(from, colon == std::string_view::npos ? colon : colon - from));
    if (colon == std::string_view::npos) break;
    from = colon + 1;
  }
  if (parts.size() == 6 && parts[5] == "delta") parts.pop_back();
  if (parts.size() != 5) {
    return Error{ErrorCode::kUsage, fmt::format("'{}' is not a valid profile type id", id),
                 "use five parts, name:sample_type:sample_unit:period_type:period_unit, as in "
                 "process_cpu:cpu:nanoseconds:cpu:nanoseconds"};
  }
  return ProfileType{parts[0], parts[1], parts[2], parts[3], parts[4]};
}

std::string ProfileType::id() const {
  return fmt::format("{}:{}:{}:{}:{}", name, sample_type, sample_unit, period_type, period_unit);
}

}  // namespace vesta
