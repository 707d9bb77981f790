// The parts of a multipart/form-data body. Views of the body, which must outlive them. Pure
// functions.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace vesta::server {

struct FormPart {
  std::string_view name;  // as it stands there: escaped quotes are not undone
  std::string_view content;
};

bool is_multipart(std::string_view content_type);

// kInvalidInput when the type has no boundary, the body does not keep to it, or there are more than
// a few dozen parts.
Result<std::vector<FormPart>> parse_multipart(std::string_view content_type, std::string_view body);

// Null when there is none of that name.
const FormPart* find_part(const std::vector<FormPart>& parts, std::string_view name);

}  // namespace vesta::server
