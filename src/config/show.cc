#include "config/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <functional>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "base/utf8.h"

namespace vesta::config {
namespace {

// Values of one line, with a comment in the same column.
struct Line {
  std::string text;
  std::string comment;
};

bool is_leaf(const Node& node) {
  if (node.is_map()) return node.members.empty();
  return std::ranges::all_of(node.items, [](const Node& item) { return item.is_word(); });
}

// Whether YAML takes the word for what it is.
bool is_plain_word(const std::string& word) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '/' || c == '.' || c == '-' || c == '%';
  };
  static constexpr auto kSpecial = std::to_array<std::string_view>(
      {"null", "true", "false", "yes", "no", "on", "off", "y", "n"});
  const bool is_special = std::ranges::any_of(kSpecial, [&](std::string_view special) {
    return std::ranges::equal(word, special, {}, ::tolower);
  });
  return !word.empty() && std::ranges::all_of(word, fits) && word[0] != '-' && word[0] != '%' &&
         word[0] != '.' && !is_special;
}

std::string yaml_word(const Node& node) {
  return !node.is_text || is_plain_word(node.word) ? node.word : json_quote(node.word);
}

// Escapes could make a key longer than YAML allows.
std::string yaml_key(const std::string& key) {
  if (is_plain_word(key)) return key;
  std::string out = "'";
  for (const char c : key) out.append(c == '\'' ? 2 : 1, c);
  return out + "'";
}

std::string yaml_leaf(const Node& node) {
  if (node.is_map()) return "{}";
  if (!node.is_list()) return yaml_word(node);
  std::string out = "[";
  for (const Node& item : node.items) {
    if (out.size() > 1) out += ", ";
    out += yaml_word(item);
  }
  return out + "]";
}

class YamlText {
 public:
  // What to say behind the value of a key; empty for nothing.
  using Comment = std::function<std::string(const std::string& path)>;
  enum class Values { kPlain, kCommentedOut };

  YamlText(Comment comment, Values values) : comment_(std::move(comment)), values_(values) {}

  void members(const Node& node, const std::string& path, size_t indent) {
    for (const Member& member : node.members) {
      const std::string below = path.empty() ? member.key : fmt::format("{}.{}", path, member.key);
      std::string key = begin(indent) + yaml_key(member.key) + ":";
      if (is_leaf(member.value)) {
        if (values_ == Values::kCommentedOut) key.insert(indent, "# ");
        lines_.push_back({fmt::format("{} {}", key, yaml_leaf(member.value)), comment_(below)});
        continue;
      }
      lines_.push_back({std::move(key), {}});
      if (member.value.is_map()) {
        members(member.value, below, indent + 2);
      } else {
        items(member.value, below, indent + 2);
      }
    }
  }

  std::string text() const {
    size_t column = 0;
    for (const Line& line : lines_) {
      if (!line.comment.empty()) {
        column = std::max(column, std::min<size_t>(display_width(line.text), 48));
      }
    }
    std::string out;
    for (const Line& line : lines_) {
      out += line.text;
      if (!line.comment.empty()) {
        const size_t width = display_width(line.text);
        out.append(column > width ? column - width : 0, ' ');
        out += "  # " + line.comment;
      }
      out += '\n';
    }
    return out;
  }

 private:
  void items(const Node& list, const std::string& path, size_t indent) {
    for (size_t i = 0; i < list.items.size(); ++i) {
      dash_ = true;
      const std::string below = fmt::format("{}[{}]", path, i);
      if (is_leaf(list.items[i])) {
        lines_.push_back({begin(indent + 2) + yaml_leaf(list.items[i]), comment_(below)});
      } else {
        members(list.items[i], below, indent + 2);
      }
    }
  }

  // The first line of an item has its dash in the indentation.
  std::string begin(size_t indent) {
    std::string out(indent, ' ');
    if (dash_ && indent >= 2) out[indent - 2] = '-';
    dash_ = false;
    return out;
  }

  const Comment comment_;
  const Values values_;
  std::vector<Line> lines_;
  bool dash_ = false;
};

void json_value(JsonWriter& json, const Node& node) {
  if (node.is_map()) {
    json.begin_object().end_object();
  } else if (node.is_list()) {
    json.begin_array();
    for (const Node& item : node.items) json_value(json, item);
    json.end_array();
  } else if (node.is_text) {
    json.string(node.word);
  } else if (node.word == "true" || node.word == "false") {
    json.boolean(node.word == "true");
  } else {
    uint64_t number = 0;
    std::from_chars(node.word.data(), node.word.data() + node.word.size(), number);
    json.number(number);
  }
}

std::string_view source_name(Source source) {
  switch (source) {
    case Source::kFile:
      return "file";
    case Source::kEnvironment:
      return "environment";
    case Source::kFlag:
      return "flag";
    case Source::kDefault:
      break;
  }
  return "default";
}

void json_settings(JsonWriter& json, const Node& node, const std::string& path,
                   const Origins& origins) {
  if (!is_leaf(node)) {
    for (size_t i = 0; i < node.items.size(); ++i) {
      json_settings(json, node.items[i], fmt::format("{}[{}]", path, i), origins);
    }
    for (const Member& member : node.members) {
      json_settings(json, member.value,
                    path.empty() ? member.key : fmt::format("{}.{}", path, member.key), origins);
    }
    return;
  }
  const auto found = origins.find(path);
  const Origin origin = found == origins.end() ? Origin() : found->second;
  json.begin_object().field("key", path).key("value");
  json_value(json, node);
  json.key("from").begin_object().field("source", source_name(origin.source));
  if (!origin.name.empty()) json.field("name", origin.name);
  if (origin.at.line != 0) json.field("line", uint64_t{origin.at.line});
  json.end_object().end_object();
}

}  // namespace

std::string show_yaml(const Node& root, const Origins& origins) {
  const auto origin = [&](const std::string& path) {
    const auto found = origins.find(path);
    return found == origins.end() ? std::string("default") : found->second.text();
  };
  YamlText text(origin, YamlText::Values::kPlain);
  text.members(root, "", 0);
  return text.text();
}

std::string starter_yaml(const Fields& fields) {
  const auto type = [&](const std::string& path) {
    const auto field = std::ranges::find(fields, path, &Field::key);
    return field == fields.end() ? std::string() : field->type;
  };
  YamlText text(type, YamlText::Values::kCommentedOut);
  text.members(show_fields(fields), "", 0);
  return text.text();
}

std::string show_json(const Node& root, const Origins& origins) {
  JsonWriter json(2);
  json.begin_object().key("settings").begin_array();
  json_settings(json, root, "", origins);
  return json.end_array().end_object().take() + "\n";
}

}  // namespace vesta::config
