#include "config/relabel.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/suggest.h"

namespace vesta {
namespace {

constexpr std::array<std::pair<std::string_view, RelabelAction>, 11> kActions = {{
    {"replace", RelabelAction::kReplace},
    {"keep", RelabelAction::kKeep},
    {"drop", RelabelAction::kDrop},
    {"keepequal", RelabelAction::kKeepEqual},
    {"dropequal", RelabelAction::kDropEqual},
    {"labelmap", RelabelAction::kLabelMap},
    {"labeldrop", RelabelAction::kLabelDrop},
    {"labelkeep", RelabelAction::kLabelKeep},
    {"hashmod", RelabelAction::kHashMod},
    {"lowercase", RelabelAction::kLowercase},
    {"uppercase", RelabelAction::kUppercase},
}};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// What a group is called in a template: its number or its name; empty when it did not take part.
std::string_view group(const re2::RE2& regex, const std::vector<re2::StringPiece>& groups,
                       std::string_view name) {
  size_t index = 0;
  if (!name.empty() && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) {
    for (const char c : name)
      index = std::min<size_t>(index * 10 + static_cast<size_t>(c - '0'), 1000);
  } else {
    const auto named = regex.NamedCapturingGroups().find(std::string(name));
    if (named == regex.NamedCapturingGroups().end()) return {};
    index = static_cast<size_t>(named->second);
  }
  if (index >= groups.size() || groups[index].data() == nullptr) return {};
  return {groups[index].data(), groups[index].size()};
}

// Go's templates: $1, ${1}, $name, ${name}, and $$ for a dollar.
std::string expand(const re2::RE2& regex, const std::vector<re2::StringPiece>& groups,
                   std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t dollar = std::min(text.find('$'), text.size());
    out += text.substr(0, dollar);
    text.remove_prefix(dollar);
    if (text.size() < 2) {
      out += text;
      break;
    }
    text.remove_prefix(1);
    if (text.front() == '$') {
      out += '$';
      text.remove_prefix(1);
      continue;
    }
    std::string_view name;
    if (text.front() == '{') {
      const size_t end = text.find('}');
      if (end == std::string_view::npos) return out + "$" + std::string(text);
      name = text.substr(1, end - 1);
      text.remove_prefix(end + 1);
    } else {
      const auto end = std::ranges::find_if_not(text, is_word);
      name = text.substr(0, static_cast<size_t>(end - text.begin()));
      if (name.empty()) {
        out += '$';
        continue;
      }
      text.remove_prefix(name.size());
    }
    out += group(regex, groups, name);
  }
  return out;
}

// As Prometheus has it, so that the same targets go to the same shard.
uint64_t hash_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_md5(), nullptr);
  uint64_t hash = 0;
  for (size_t i = 8; i < 16; ++i) hash = hash << 8 | digest[i];
  return hash;
}

void put(Labels& labels, std::string_view name, std::string_view value) {
  if (value.empty()) {
    std::erase_if(labels, [&](const auto& label) { return label.first == name; });
  } else {
    set_label(labels, name, value, true);
  }
}

std::string in_case(std::string_view text, bool upper) {
  std::string out(text);
  for (char& c : out) {
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!upper && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

Result<RelabelAction> parse_relabel_action(std::string_view word) {
  std::vector<std::string> known;
  for (const auto& [name, action] : kActions) {
    if (in_case(word, false) == name) return action;
    known.emplace_back(name);
  }
  const std::string near = nearest(word, known);
  return Error{ErrorCode::kUsage, fmt::format("unknown action '{}'", word.substr(0, 40)),
               near.empty() ? fmt::format("use one of: {}", fmt::join(known, ", "))
                            : fmt::format("did you mean {}?", near)};
}

std::string_view relabel_action_name(RelabelAction action) {
  const auto found =
      std::ranges::find(kActions, action, [](const auto& known) { return known.second; });
  return found == kActions.end() ? std::string_view() : found->first;
}

Result<RelabelRule> RelabelRule::make(RelabelSpec spec) {
  using enum RelabelAction;
  const auto lacks = [](std::string_view what) {
    return Error{ErrorCode::kUsage, fmt::format("this action needs {}", what), ""};
  };
  const bool sets = spec.action == kReplace || spec.action == kHashMod ||
                    spec.action == kLowercase || spec.action == kUppercase ||
                    spec.action == kKeepEqual || spec.action == kDropEqual;
  if (sets && spec.target_label.empty()) return lacks("target_label");
  if (spec.action == kHashMod && spec.modulus == 0) return lacks("a modulus of 1 or more");
  RelabelRule rule;
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(8 << 20);
  auto regex = std::make_shared<re2::RE2>(spec.regex, options);
  if (!regex->ok()) {
    return Error{ErrorCode::kUsage,
                 fmt::format("regex '{}': {}", spec.regex.substr(0, 80), regex->error()), ""};
  }
  rule.regex_ = std::move(regex);
  rule.spec_ = std::move(spec);
  return rule;
}

bool RelabelRule::apply(Labels& labels) const {
  using enum RelabelAction;
  if (regex_ == nullptr) return true;
  std::string source;
  for (size_t i = 0; i < spec_.source_labels.size(); ++i) {
    if (i > 0) source += spec_.separator;
    source += label_value(labels, spec_.source_labels[i]);
  }
  const auto matches = [&](const std::string& text) { return re2::RE2::FullMatch(text, *regex_); };
  switch (spec_.action) {
    case kKeep:
      return matches(source);
    case kDrop:
      return !matches(source);
    case kKeepEqual:
      return label_value(labels, spec_.target_label) == source;
    case kDropEqual:
      return label_value(labels, spec_.target_label) != source;
    case kHashMod:
      put(labels, spec_.target_label, std::to_string(hash_of(source) % spec_.modulus));
      return true;
    case kLowercase:
    case kUppercase:
      put(labels, spec_.target_label, in_case(source, spec_.action == kUppercase));
      return true;
    case kLabelDrop:
      std::erase_if(labels, [&](const auto& label) { return matches(label.first); });
      return true;
    case kLabelKeep:
      std::erase_if(labels, [&](const auto& label) { return !matches(label.first); });
      return true;
    case kReplace:
    case kLabelMap:
      break;
  }
  std::vector<re2::StringPiece> groups(static_cast<size_t>(regex_->NumberOfCapturingGroups()) + 1);
  const auto match = [&](const std::string& text) {
    return regex_->Match(text, 0, text.size(), re2::RE2::ANCHOR_BOTH, groups.data(),
                         static_cast<int>(groups.size()));
  };
  if (spec_.action == kReplace) {
    if (!match(source)) return true;
    const std::string name = expand(*regex_, groups, spec_.target_label);
    const std::string value = expand(*regex_, groups, spec_.replacement);
    if (is_label_name(name)) put(labels, name, value);
    return true;
  }
  const Labels before = labels;
  for (const auto& [name, value] : before) {
    if (!match(name)) continue;
    const std::string mapped = expand(*regex_, groups, spec_.replacement);
    if (is_label_name(mapped)) put(labels, mapped, value);
  }
  return true;
}

bool relabel(const std::vector<RelabelRule>& rules, Labels& labels) {
  return std::ranges::all_of(rules, [&](const RelabelRule& rule) { return rule.apply(labels); });
}

}  // namespace vesta
