#include "config/field.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/suggest.h"

namespace vesta::config {
namespace {

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string_view last_part(std::string_view key) {
  const size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? key : key.substr(dot + 1);
}

// Finds the field of each value of a tree of keys, and complains about keys without one.
class Matching {
 public:
  Matching(Reader& reader, const std::string& path, const Fields& fields)
      : reader_(reader), path_(path), fields_(fields), found_(fields.size(), nullptr) {}

  void collect(const Node& node, const std::string& group) {
    if (node.is_nothing()) return;  // a group whose keys are all commented out
    if (!node.is_map()) {
      const std::string where = group.empty() ? path_ : joined(path_, group);
      reader_.fail_plainly(node.at,
                           where.empty() ? "the file is not a map of keys"
                                         : fmt::format("{} must be a map of keys", where),
                           "use KEY: VALUE, one per line");
      return;
    }
    for (const Member& member : node.members) take(member, joined(group, member.key));
  }

  const std::vector<const Node*>& found() const { return found_; }

 private:
  void take(const Member& member, const std::string& key) {
    const bool is_plain = member.key.find('.') == std::string::npos;
    const auto field = std::ranges::find(fields_, key, &Field::key);
    if (is_plain && field != fields_.end()) {
      found_[static_cast<size_t>(field - fields_.begin())] = &member.value;
      return;
    }
    const std::string prefix = key + ".";
    const bool is_group = std::ranges::any_of(
        fields_, [&](const Field& known) { return known.key.starts_with(prefix); });
    if (is_plain && is_group) return collect(member.value, key);
    if (!reader_.wants_more()) return;  // looking for what was meant takes time
    reader_.fail_plainly(member.at, fmt::format("unknown key '{}'", shown(joined(path_, key))),
                         hint_for(key));
  }

  std::string hint_for(const std::string& key) const {
    const std::string group = key.substr(0, key.size() - last_part(key).size());
    const std::string word(last_part(key));
    std::set<std::string> siblings;
    std::vector<std::string> all;
    for (const Field& field : fields_) {
      if (field.key == key) return "use one indented line for each part";
      all.push_back(field.key);
      if (!field.key.starts_with(group)) continue;
      const std::string_view rest = std::string_view(field.key).substr(group.size());
      siblings.emplace(rest.substr(0, rest.find('.')));
    }
    const std::vector<std::string> near(siblings.begin(), siblings.end());
    if (const std::string best = nearest(word, near); !best.empty()) {
      return fmt::format("did you mean {}?", joined(path_, group + best));
    }
    // Perhaps right, but in the wrong place.
    for (const std::string& known : all) {
      if (last_part(known) == word) return fmt::format("did you mean {}?", joined(path_, known));
    }
    if (const std::string best = nearest(key, all); !best.empty()) {
      return fmt::format("did you mean {}?", joined(path_, best));
    }
    return fmt::format("known keys: {}", fmt::join(near, ", "));
  }

  Reader& reader_;
  const std::string& path_;
  const Fields& fields_;
  std::vector<const Node*> found_;
};

// Two names for one value: the one that does not count is worth a word.
void compare_aliases(Reader& reader, const Fields& fields, const std::vector<const Node*>& found) {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (found[i] == nullptr || fields[i].alias_of.empty()) continue;
    const auto other = std::ranges::find(fields, fields[i].alias_of, &Field::key);
    if (other == fields.end()) continue;
    const Node* node = found[static_cast<size_t>(other - fields.begin())];
    if (node == nullptr || node->word == found[i]->word) continue;
    reader.warn(found[i]->at, fields[i].key,
                fmt::format("'{}' is ignored, because {} is '{}' in line {}", shown(found[i]->word),
                            other->key, shown(node->word), node->at.line));
  }
}

void read_field(Reader& reader, const Field& field, const Node& node, const std::string& path) {
  const size_t errors = reader.error_count();
  field.read(reader, node, path);
  if (reader.error_count() != errors) return;
  if (field.alias_of.empty()) {
    reader.note_origin(path, node);
  } else {
    reader.note_origin(field.alias_of, node, field.key);
  }
}

void read_word(Reader& reader, const Field& field, const std::string& word) {
  Node node = Node::of_word(word, false);
  if (field.has_items) {
    std::vector<Node> items;
    for (std::string_view rest = word; !rest.empty();) {
      const size_t comma = std::min(rest.find(','), rest.size());
      if (comma > 0) items.push_back(Node::of_word(std::string(rest.substr(0, comma))));
      rest.remove_prefix(std::min(rest.size(), comma + 1));
    }
    node = Node::of_list(std::move(items));
  }
  read_field(reader, field, node, field.key);
}

}  // namespace

std::string Reader::in_words(std::string_view path, const std::string& what) const {
  return source_ == Source::kFile && !path.empty() ? fmt::format("{}: {}", path, what) : what;
}

void Reader::fail(Position at, std::string_view path, const Error& error) {
  Error out = error;
  out.message = in_words(path, error.message);
  findings_.add_error(at, located(name_, at, std::move(out)));
}

void Reader::fail_plainly(Position at, std::string what, std::string hint) {
  fail(at, {}, std::move(what), std::move(hint));
}

void Reader::warn(Position at, std::string_view path, const std::string& what) {
  findings_.add_warning(at, located(name_, at, Error{ErrorCode::kUsage, in_words(path, what), {}}));
}

void Reader::note_origin(const std::string& path, const Node& node, const std::string& given_as) {
  findings_.origins[path] = {source_, name_, node.at, given_as};
  for (size_t i = 0; i < node.items.size(); ++i) {
    note_origin(fmt::format("{}[{}]", path, i), node.items[i]);
  }
  for (const Member& member : node.members) {
    note_origin(fmt::format("{}.{}", path, member.key), member.value);
  }
}

void Reader::inherit_origin(const std::string& path, const std::string& other) {
  const auto found = findings_.origins.find(other);
  if (found != findings_.origins.end()) findings_.origins[path] = Origin(found->second);
}

void read_fields(Reader& reader, const Node& node, const std::string& path, const Fields& fields) {
  Matching matching(reader, path, fields);
  matching.collect(node, "");
  const std::vector<const Node*>& found = matching.found();
  for (size_t i = 0; i < fields.size(); ++i) {
    if (found[i] == nullptr) continue;
    const std::string key = joined(path, fields[i].key);
    // Values inside of lists have their origin from the list.
    if (path.empty()) {
      read_field(reader, fields[i], *found[i], key);
    } else {
      fields[i].read(reader, *found[i], key);
    }
  }
  compare_aliases(reader, fields, found);
}

void read_document(const Document& document, const Fields& fields, Findings& findings) {
  Reader reader(Source::kFile, document.name, findings);
  read_fields(reader, document.root, "", fields);
}

std::string environment_name(std::string_view key) {
  std::string name = "VESTA_";
  for (const char c : key) {
    name += c == '.' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return name;
}

void read_environment(const GetEnvironment& get, const Fields& fields, Findings& findings) {
  for (const Field& field : fields) {
    if (!field.from_word) continue;
    const std::string name = environment_name(field.key);
    const char* word = get(name.c_str());
    if (word == nullptr) continue;
    Reader reader(Source::kEnvironment, name, findings);
    read_word(reader, field, word);
  }
}

void read_flag(const std::string& flag, std::string_view key, const std::string& word,
               const Fields& fields, Findings& findings) {
  Reader reader(Source::kFlag, flag, findings);
  const auto field = std::ranges::find(fields, key, &Field::key);
  if (field == fields.end() || !field->from_word) {
    reader.fail_plainly({}, fmt::format("'{}' cannot be set with one value", shown(key)));
    return;
  }
  read_word(reader, *field, word);
}

std::vector<std::string> keys_of(const Fields& fields) {
  std::vector<std::string> keys;
  for (const Field& field : fields) {
    if (field.below.empty()) keys.push_back(field.key);
    for (const std::string& below : field.below) keys.push_back(field.key + below);
  }
  return keys;
}

Field shown_if_set(Field field) {
  field.show = [show = std::move(field.show)] {
    Node node = show();
    const bool is_set = !node.is_word() || (!node.word.empty() && node.word != "0");
    return is_set ? node : Node();
  };
  return field;
}

Node show_fields(const Fields& fields) {
  Node root;
  root.kind = Node::Kind::kMap;
  for (const Field& field : fields) {
    if (!field.show || !field.alias_of.empty()) continue;
    Node value = field.show();
    if (value.is_nothing()) continue;
    Node* at = &root;
    std::string_view rest = field.key;
    while (!rest.empty()) {
      const size_t dot = std::min(rest.find('.'), rest.size());
      at = &at->below(rest.substr(0, dot));
      rest.remove_prefix(std::min(rest.size(), dot + 1));
    }
    *at = std::move(value);
  }
  return root;
}

}  // namespace vesta::config
