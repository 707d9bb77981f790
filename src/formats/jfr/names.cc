#include "formats/jfr/names.h"

#include <algorithm>

namespace vesta::jfr {

namespace {

constexpr auto kNpos = std::string_view::npos;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

template <class Predicate>
size_t run_length(std::string_view text, size_t at, Predicate matches) {
  size_t end = at;
  while (end < text.size() && matches(text[end])) ++end;
  return end - at;
}

// Hidden classes carry their address: "/0x…", "+0x…" or ".0x…", perhaps with "/hash" after it.
std::string_view without_address(std::string_view name) {
  for (size_t at = name.find("0x"); at != kNpos; at = name.find("0x", at + 2)) {
    if (at < 2 || std::string_view("/+.").find(name[at - 1]) == kNpos) continue;
    const size_t digits = run_length(name, at + 2, is_hex);
    size_t end = at + 2 + digits;
    if (end < name.size() && name[end] == '/') end += 1 + run_length(name, end + 1, is_digit);
    if (digits > 0 && end == name.size()) return name.substr(0, at - 1);
  }
  const size_t slash = name.rfind('/');
  if (slash != kNpos && slash > 0 && slash + 1 < name.size() &&
      run_length(name, slash + 1, is_digit) == name.size() - slash - 1) {
    return name.substr(0, slash);
  }
  return name;
}

std::string_view without_lambda_id(std::string_view name) {
  constexpr std::string_view kLambda = "$$Lambda";
  const size_t at = name.find(kLambda);
  if (at == kNpos) return name;
  const size_t end = at + kLambda.size();
  if (end < name.size() && std::string_view("$/+.").find(name[end]) == kNpos) return name;
  return name.substr(0, end);
}

std::string_view without_counter(std::string_view name) {
  for (const std::string_view marker : {"GeneratedMethodAccessor", "GeneratedConstructorAccessor",
                                        "GeneratedSerializationConstructorAccessor", "$Proxy"}) {
    const size_t at = name.rfind(marker);
    if (at == kNpos) continue;
    const size_t end = at + marker.size();
    if (run_length(name, end, is_digit) == name.size() - end) return name.substr(0, end);
  }
  for (const std::string_view marker :
       {"$ByteBuddy$", "$HibernateProxy$", "$MockitoMock$", "$auxiliary$"}) {
    const size_t at = name.find(marker);
    if (at == kNpos) continue;
    const size_t end = at + marker.size();
    if (run_length(name, end, is_word) == name.size() - end) return name.substr(0, end - 1);
  }
  return name;
}

// "…CGLIB$$1a2b3c", also in the middle when a generated class was extended again.
std::string without_cglib_hashes(std::string_view name) {
  constexpr std::string_view kMarker = "CGLIB$$";
  std::string out;
  while (true) {
    const size_t at = name.find(kMarker);
    if (at == kNpos) break;
    const size_t hash = at + kMarker.size();
    const size_t end = hash + run_length(name, hash, is_hex);
    const bool ends = end == name.size() || name[end] == '$';
    out.append(name.substr(0, ends ? hash - 2 : hash));
    name.remove_prefix(ends ? end : hash);
  }
  out.append(name);
  return out;
}

std::string_view primitive_name(char descriptor) {
  switch (descriptor) {
    case 'B':
      return "byte";
    case 'C':
      return "char";
    case 'D':
      return "double";
    case 'F':
      return "float";
    case 'I':
      return "int";
    case 'J':
      return "long";
    case 'S':
      return "short";
    case 'Z':
      return "boolean";
    default:
      return {};
  }
}

}  // namespace

std::string collapse_generated_class(std::string_view name) {
  return without_cglib_hashes(without_counter(without_address(without_lambda_id(name))));
}

std::string readable_class(std::string_view name) {
  const size_t dimensions = run_length(name, 0, [](char c) { return c == '['; });
  std::string_view element = name.substr(dimensions);
  std::string out;
  if (dimensions > 0 && element.size() == 1 && !primitive_name(element[0]).empty()) {
    out = primitive_name(element[0]);
  } else {
    if (dimensions > 0 && element.starts_with('L') && element.ends_with(';'))
      element = element.substr(1, element.size() - 2);
    out = collapse_generated_class(element);
    std::replace(out.begin(), out.end(), '/', '.');
  }
  for (size_t i = 0; i < dimensions; ++i) out += "[]";
  return out;
}

std::string collapse_library(std::string_view name) {
  constexpr size_t kRandomDigits = 12;
  constexpr std::string_view kUuid = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  if (name.find(".so") == kNpos && name.find(".dylib") == kNpos) return std::string(name);
  const auto is_uuid_at = [&](size_t at) {
    if (name.size() - at < kUuid.size()) return false;
    for (size_t i = 0; i < kUuid.size(); ++i)
      if (kUuid[i] == '-' ? name[at + i] != '-' : !is_hex(name[at + i])) return false;
    return true;
  };
  std::string out;
  for (size_t at = 0; at < name.size();) {
    if ((name[at] == '-' || name[at] == '_') && at + 1 < name.size()) {
      const size_t run = run_length(name, at + 1, is_hex);
      const size_t end = at + 1 + run;
      if (is_uuid_at(at + 1)) {
        at += 1 + kUuid.size();
        continue;
      }
      if (run >= kRandomDigits && (end == name.size() || !is_word(name[end]))) {
        at = end;
        continue;
      }
    }
    out.push_back(name[at++]);
  }
  return out;
}

}  // namespace vesta::jfr
