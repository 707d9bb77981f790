#include "server/ingest/multipart.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "formats/common/line_reader.h"

namespace vesta::server {
namespace {

constexpr size_t kMaxParts = 64;
constexpr size_t kMaxHeaderBytes = 8 * 1024;
constexpr size_t kMaxBoundaryBytes = 70;  // RFC 2046 section 5.1.1

Error bad(std::string_view what) {
  return {ErrorCode::kInvalidInput, fmt::format("multipart body: {}", what),
          "the body is incomplete, or its Content-Type names another boundary"};
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

// The value of `key` in `form-data; name="profile"; filename="p"`; false when it is not there.
bool find_attribute(std::string_view text, std::string_view key, std::string_view& value) {
  size_t at = std::min(text.find(';'), text.size());
  while (at < text.size()) {
    text.remove_prefix(at + 1);
    text = trim_left(text);
    const size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = trim(text.substr(0, equals));
    if (equals == text.size()) return false;
    std::string_view rest = trim_left(text.substr(equals + 1));
    std::string_view found;
    if (rest.starts_with('"')) {
      rest.remove_prefix(1);
      size_t end = 0;
      while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
      if (end >= rest.size()) return false;
      found = rest.substr(0, end);
      rest.remove_prefix(end + 1);
    } else {
      const size_t end = std::min(rest.find(';'), rest.size());
      found = trim_right(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    if (equal_ignoring_case(name, key)) {
      value = found;
      return true;
    }
    text = rest;
    at = std::min(text.find(';'), text.size());
  }
  return false;
}

Result<std::string_view> part_name(std::string_view headers) {
  LineReader lines(headers);
  std::string_view line;
  while (lines.next(line)) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    if (!equal_ignoring_case(trim(line.substr(0, colon)), "content-disposition")) continue;
    std::string_view name;
    if (find_attribute(line.substr(colon + 1), "name", name)) return name;
  }
  return bad("a part without a name");
}

}  // namespace

bool is_multipart(std::string_view content_type) {
  constexpr std::string_view kType = "multipart/form-data";
  content_type = trim_left(content_type);
  return equal_ignoring_case(content_type.substr(0, kType.size()), kType);
}

Result<std::vector<FormPart>> parse_multipart(std::string_view content_type,
                                              std::string_view body) {
  std::string_view boundary;
  if (!find_attribute(content_type, "boundary", boundary) || boundary.empty() ||
      boundary.size() > kMaxBoundaryBytes)
    return bad("the Content-Type has no boundary of 1 to 70 characters");
  const std::string delimiter = fmt::format("\r\n--{}", boundary);
  // What stands before the first delimiter is no part; its line break may be missing.
  size_t at = 0;
  if (!body.starts_with(std::string_view(delimiter).substr(2))) {
    at = body.find(delimiter);
    if (at == std::string_view::npos) return bad("the boundary does not occur");
    at += 2;
  }
  at += delimiter.size() - 2;
  std::vector<FormPart> parts;
  for (;;) {
    std::string_view rest = body.substr(at);
    if (rest.starts_with("--")) return parts;
    // Blanks may follow a boundary.
    const size_t line = rest.find("\r\n");
    if (line == std::string_view::npos || !trim(rest.substr(0, line)).empty())
      return bad("cut off after a boundary");
    rest.remove_prefix(line);
    const size_t headers_end = rest.substr(0, kMaxHeaderBytes).find("\r\n\r\n");
    if (headers_end == std::string_view::npos) return bad("a part without an end of its headers");
    FormPart part;
    VESTA_ASSIGN(part.name, part_name(rest.substr(0, headers_end)));
    rest.remove_prefix(headers_end + 4);
    const size_t end = rest.find(delimiter);
    if (end == std::string_view::npos) return bad("cut off in a part");
    part.content = rest.substr(0, end);
    if (parts.size() == kMaxParts) return bad(fmt::format("more than {} parts", kMaxParts));
    parts.push_back(part);
    at = static_cast<size_t>(rest.data() - body.data()) + end + delimiter.size();
  }
}

const FormPart* find_part(const std::vector<FormPart>& parts, std::string_view name) {
  const auto at = std::ranges::find(parts, name, &FormPart::name);
  return at == parts.end() ? nullptr : &*at;
}

}  // namespace vesta::server
