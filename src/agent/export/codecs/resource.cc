#include "agent/export/codecs/resource.h"

#include <algorithm>
#include <cctype>

#include "base/utf8.h"

namespace vesta::agent {
namespace {

std::string plain_name(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || (std::isalnum(byte) == 0 && c != '_')) c = '_';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) != 0) out.insert(0, 1, '_');
  return out;
}

}  // namespace

std::string label_text(const Dictionary& dictionary, const Label& label) {
  if (label.kind == LabelKind::kNumber) return std::to_string(label.number);
  return replace_invalid_utf8(dictionary.string(label.text));
}

std::string resource_text(const Dictionary& dictionary, const Profile& profile,
                          std::string_view name) {
  for (const Label& label : dictionary.label_sets[profile.resource]) {
    if (dictionary.string(label.key) == name) return label_text(dictionary, label);
  }
  return {};
}

std::string service_name(const Dictionary& dictionary, const Profile& profile) {
  std::string name = resource_text(dictionary, profile, "service.name");
  return name.empty() ? "unknown_service" : name;
}

std::vector<std::pair<std::string, std::string>> plain_labels(const Dictionary& dictionary,
                                                              const Profile& profile) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Label& label : dictionary.label_sets[profile.resource]) {
    std::string name = plain_name(dictionary.string(label.key));
    std::string value = label_text(dictionary, label);
    // Names with two underscores in front are the servers' own.
    if (name == "service_name" || name.starts_with("__") || value.empty()) continue;
    out.emplace_back(std::move(name), std::move(value));
  }
  std::ranges::stable_sort(out, {}, &std::pair<std::string, std::string>::first);
  const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
  out.erase(std::unique(out.begin(), out.end(), same_name), out.end());
  return out;
}

}  // namespace vesta::agent
