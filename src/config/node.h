// A configuration as it was written: words, lists and keys, each with its place in the file. Plain
// data; whoever reads it decides what a word means.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vesta::config {

// Counted from 1; 0 = not from a file.
struct Position {
  uint32_t line = 0;
  uint32_t column = 0;
};

struct Member;

struct Node {
  enum class Kind : uint8_t { kNothing, kWord, kList, kMap };

  Kind kind = Kind::kNothing;
  bool is_text = false;  // a word that is text even if it looks like a number
  std::string word;
  std::vector<Node> items;
  std::vector<Member> members;  // each key once
  Position at;

  static Node of_word(std::string word, bool is_text = true);
  static Node of_list(std::vector<Node> items);

  bool is_nothing() const { return kind == Kind::kNothing; }
  bool is_word() const { return kind == Kind::kWord; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_map() const { return kind == Kind::kMap; }

  // Null when there is none.
  const Node* find(std::string_view key) const;
  // The value of a key, made where it is not there yet.
  Node& below(std::string_view key);
};

struct Member {
  std::string key;
  Position at;  // of the key
  Node value;
};

// A file, or what stands for one.
struct Document {
  std::string name;  // what it is called in errors
  Node root;         // nothing, when it is empty
};

}  // namespace vesta::config
