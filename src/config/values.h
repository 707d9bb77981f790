// How fields are made of types: words (words.h), and lists, maps and groups of them. A struct's
// table is a function from the struct to its Fields, written next to whoever fills it.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/field.h"
#include "config/words.h"

namespace vesta::config {

template <class Type, class T>
concept WordFor = requires(const Type& type, std::string_view word, T& to) {
  { type.parse(word, to) } -> std::same_as<Status>;
};

template <class Type, class T>
void read_value(Reader& reader, const Node& node, const std::string& path, const Type& type,
                T& to) {
  if constexpr (WordFor<Type, T>) {
    if (!node.is_word() && !node.is_nothing()) {
      reader.fail(node.at, path, "must be a single value, not a list or a map",
                  fmt::format("use {}", type.name()));
    } else if (const Status status = type.parse(node.word, to); !status.ok()) {
      reader.fail(node.at, path, status.error());
    }
  } else {
    type.read(reader, node, path, to);
  }
}

template <class Type, class T>
Node show_value(const Type& type, const T& value) {
  if constexpr (WordFor<Type, T>) {
    return Node::of_word(type.text(value), Type::kIsText);
  } else {
    return type.show(value);
  }
}

template <class Type>
std::vector<std::string> keys_below(const Type& type) {
  if constexpr (requires { type.below(); }) {
    return type.below();
  } else {
    return {};
  }
}

template <class Type, class T>
Field field(std::string key, Type type, T& to) {
  Field out;
  out.key = std::move(key);
  out.type = type.name();
  out.from_word = WordFor<Type, T>;
  if constexpr (requires { Type::kIsWords; }) out.from_word = out.has_items = Type::kIsWords;
  out.below = keys_below(type);
  out.read = [type, &to](Reader& reader, const Node& node, const std::string& path) {
    read_value(reader, node, path, type, to);
  };
  out.show = [type, &to] { return show_value(type, to); };
  return out;
}

// Another key for the same value; `key` is the one that stands above it and is shown.
template <class Type, class T>
Field alias_field(std::string alias, std::string key, Type type, T& to) {
  Field out = field(std::move(alias), std::move(type), to);
  out.alias_of = std::move(key);
  return out;
}

// A key that is documented, but whose feature is not there: its value is checked, and whoever gives
// it is told that it does nothing.
template <class T, class Type>
Field field_without_effect(std::string key, Type type) {
  auto value = std::make_shared<T>();
  Field out = field(std::move(key), type, *value);
  out.read = [type, value](Reader& reader, const Node& node, const std::string& path) {
    const size_t errors = reader.error_count();
    read_value(reader, node, path, type, *value);
    if (reader.error_count() == errors) reader.warn(node.at, path, "has no effect yet");
  };
  out.show = nullptr;
  return out;
}

// A list of one type.
template <class Type>
struct ListOf {
  static constexpr bool kIsWords = true;
  Type type;

  std::string name() const { return fmt::format("list of {}", type.name()); }
  template <class T>
  void read(Reader& reader, const Node& node, const std::string& path, std::vector<T>& to) const {
    std::vector<T> out;
    if (!node.is_list() && !node.is_nothing()) {
      return reader.fail(node.at, path, "must be a list", "use - ITEM, one per line");
    }
    for (size_t i = 0; i < node.items.size(); ++i) {
      read_value(reader, node.items[i], fmt::format("{}[{}]", path, i), type, out.emplace_back());
    }
    to = std::move(out);
  }
  template <class T>
  Node show(const std::vector<T>& values) const {
    std::vector<Node> items;
    items.reserve(values.size());
    for (const T& value : values) items.push_back(show_value(type, value));
    return Node::of_list(std::move(items));
  }
};

// Keys that are anybody's choice, with values of one type; into a map, or a vector of pairs.
template <class Type>
struct MapOf {
  Type type;
  Status (*check_key)(std::string_view) = nullptr;

  std::string name() const { return fmt::format("map of {}", type.name()); }
  std::vector<std::string> below() const {
    std::vector<std::string> keys = keys_below(type);
    if (keys.empty()) keys.emplace_back();
    for (std::string& key : keys) key.insert(0, ".*");
    return keys;
  }
  template <class Map>
  void read(Reader& reader, const Node& node, const std::string& path, Map& to) const {
    if (!node.is_map() && !node.is_nothing()) {
      return reader.fail(node.at, path, "must be a map of keys and values",
                         "use KEY: VALUE, one per line");
    }
    Map out;
    for (const Member& member : node.members) {
      const std::string below = fmt::format("{}.{}", path, shown(member.key));
      if (check_key != nullptr) {
        if (const Status status = check_key(member.key); !status.ok()) {
          reader.fail(member.at, below, status.error());
          continue;
        }
      }
      std::decay_t<decltype(out.begin()->second)> value{};
      read_value(reader, member.value, below, type, value);
      if constexpr (requires { out.emplace_back(member.key, value); }) {
        out.emplace_back(member.key, std::move(value));
      } else {
        out.emplace(member.key, std::move(value));
      }
    }
    to = std::move(out);
  }
  template <class Map>
  Node show(const Map& values) const {
    Node node;
    node.kind = Node::Kind::kMap;
    for (const auto& [key, value] : values) node.below(key) = show_value(type, value);
    return node;
  }
};

// Keys of a struct, as the value of one key or as an item of a list.
template <class T>
struct Group {
  Fields (*fields)(T&);
  // What no single key can see; called when all of them are right.
  void (*check)(Reader&, const Node&, const std::string& path, T&) = nullptr;

  std::string name() const { return "keys"; }
  std::vector<std::string> below() const {
    T value{};
    std::vector<std::string> keys = keys_of(fields(value));
    for (std::string& key : keys) key.insert(0, ".");
    return keys;
  }
  void read(Reader& reader, const Node& node, const std::string& path, T& to) const {
    const size_t errors = reader.error_count();
    read_fields(reader, node, path, fields(to));
    if (check != nullptr && reader.error_count() == errors) check(reader, node, path, to);
  }
  Node show(const T& value) const {
    T copy = value;
    return show_fields(fields(copy));
  }
};

// A list of structs.
template <class T>
struct GroupList {
  Group<T> group;

  std::string name() const { return "list"; }
  std::vector<std::string> below() const {
    std::vector<std::string> keys = group.below();
    for (std::string& key : keys) key.insert(0, "[]");
    return keys;
  }
  void read(Reader& reader, const Node& node, const std::string& path, std::vector<T>& to) const {
    ListOf<Group<T>>{group}.read(reader, node, path, to);
  }
  Node show(const std::vector<T>& values) const { return ListOf<Group<T>>{group}.show(values); }
};

template <class T>
GroupList<T> groups(Fields (*fields)(T&),
                    void (*check)(Reader&, const Node&, const std::string&, T&) = nullptr) {
  return {{fields, check}};
}

}  // namespace vesta::config
