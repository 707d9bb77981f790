#include "formats/jfr/names.h"

#include <algorithm>

#include "base/text.h"

namespace vesta::jfr {

namespace {

constexpr auto kNpos = std::string_view::npos;

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_lower_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
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

namespace {

// "$669.0x0000000800fd7318", ".0x00007ffa600c4da0", "/1234", "17": what tells lambdas apart.
bool is_lambda_id(std::string_view text) {
  if (!text.empty() && run_length(text, 0, is_digit) == text.size()) return true;
  if (text.starts_with('$')) text.remove_prefix(1);
  text.remove_prefix(run_length(text, 0, is_digit));
  if (!text.starts_with('.') && !text.starts_with('/')) return false;
  text.remove_prefix(1);
  if (text.starts_with("0x")) text.remove_prefix(2);
  return !text.empty() && run_length(text, 0, is_lower_hex) == text.size();
}

std::string_view without_prefix(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// Libraries that are unpacked into a file with a new name at each start.
std::string_view unpacked_library(std::string_view name) {
  name = without_prefix(without_prefix(name, "."), "/tmp/");
  constexpr std::string_view kDeleted = " (deleted)";
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  if (!name.ends_with(".so")) return {};
  name.remove_suffix(3);
  if (constexpr std::string_view kZstd = "libzstd-jni-"; name.starts_with(kZstd)) {
    // Three numbers with dots, then a random one.
    size_t at = kZstd.size();
    for (int i = 0; i < 3; ++i) {
      const size_t digits = run_length(name, at, is_digit);
      at += digits;
      if (digits == 0 || at >= name.size() || name[at] != (i < 2 ? '.' : '-')) return {};
      ++at;
    }
    return at < name.size() && at + run_length(name, at, is_digit) == name.size()
               ? "libzstd-jni-_.so"
               : std::string_view();
  }
  constexpr std::string_view kCorretto = "amazonCorrettoCryptoProvider";
  if (const auto rest = without_prefix(name, "lib"); rest.starts_with(kCorretto)) {
    constexpr size_t kRandomDigits = 16;
    const auto tail = without_prefix(rest.substr(kCorretto.size()), "NativeLibraries.");
    if (run_length(tail, 0, is_lower_hex) < kRandomDigits) return {};
    const auto inner = tail.substr(kRandomDigits);
    return inner.empty() || inner == "/libcrypto" || inner == "/libamazonCorrettoCryptoProvider"
               ? "libamazonCorrettoCryptoProvider_.so"
               : std::string_view();
  }
  for (const std::string_view system : {"linux-arm64", "linux-musl-x64", "linux-x64", "macos"}) {
    if (name ==
        "libasyncProfiler-" + std::string(system) + "-17b9a1d8156277a98ccc871afa9a8f69215f92")
      return "libasyncProfiler-_.so";
  }
  return {};
}

}  // namespace

std::string pyroscope_symbol(std::string_view name) {
  constexpr std::string_view kAccessor = "jdk/internal/reflect/GeneratedMethodAccessor";
  if (name.starts_with(kAccessor) && name.size() > kAccessor.size() &&
      run_length(name, kAccessor.size(), is_digit) == name.size() - kAccessor.size())
    return std::string(kAccessor) + "_";
  constexpr std::string_view kLambda = "$$Lambda";
  if (const size_t at = name.rfind(kLambda); at != kNpos && at > 0) {
    const size_t end = at + kLambda.size();
    if (is_lambda_id(name.substr(end))) return std::string(name.substr(0, end)) + "_";
  }
  if (const auto library = unpacked_library(name); !library.empty()) return std::string(library);
  constexpr std::string_view kSpring = "$$EnhancerBySpringCGLIB$$";
  if (const size_t at = name.rfind(kSpring); at != kNpos && at > 0)
    return std::string(name.substr(0, at + kSpring.size())) + "_";
  return std::string(name);
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
