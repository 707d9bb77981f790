#include "config/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/utf8.h"

namespace vesta::config {
namespace {

void insert(std::vector<Finding>& findings, Position at, Error error) {
  if (findings.size() >= Findings::kMost) return;
  const auto order = [](Position place) {
    return std::tuple(place.line == 0, place.line, place.column);
  };
  const auto before = std::ranges::upper_bound(
      findings, order(at), {}, [&](const Finding& finding) { return order(finding.at); });
  findings.insert(before, {at, std::move(error)});
}

}  // namespace

std::string Origin::text() const {
  if (source == Source::kDefault) return "default";
  std::string out = at.line != 0 ? fmt::format("{}:{}", name, at.line) : name;
  if (!key.empty()) out += fmt::format(" ({})", key);
  return out;
}

void Findings::add_error(Position at, Error error) {
  insert(errors, at, std::move(error));
}

void Findings::add_warning(Position at, Error warning) {
  insert(warnings, at, std::move(warning));
}

Status Findings::status() const {
  if (errors.empty()) return {};
  return errors.front().error;
}

Origin Findings::origin_of(std::string_view key) const {
  const auto found = origins.find(key);
  return found == origins.end() ? Origin() : found->second;
}

std::string located(std::string_view name, Position at, std::string_view message) {
  if (name.empty()) return std::string(message);
  if (at.line == 0) return fmt::format("{}: {}", name, message);
  return fmt::format("{}:{}:{}: {}", name, at.line, at.column, message);
}

Error located(std::string_view name, Position at, Error error) {
  error.message = located(name, at, std::string_view(error.message));
  error.code = ErrorCode::kUsage;
  return error;
}

std::string shown(std::string_view word) {
  constexpr size_t kMaxShown = 80;
  std::string out(word.substr(0, kMaxShown));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  out = replace_invalid_utf8(out);
  return word.size() > kMaxShown ? out + "…" : out;
}

}  // namespace vesta::config
