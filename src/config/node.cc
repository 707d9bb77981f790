#include "config/node.h"

#include <algorithm>
#include <utility>

namespace vesta::config {

Node Node::of_word(std::string word, bool is_text) {
  Node node;
  node.kind = Kind::kWord;
  node.is_text = is_text;
  node.word = std::move(word);
  return node;
}

Node Node::of_list(std::vector<Node> items) {
  Node node;
  node.kind = Kind::kList;
  node.items = std::move(items);
  return node;
}

const Node* Node::find(std::string_view key) const {
  const auto found = std::ranges::find(members, key, &Member::key);
  return found == members.end() ? nullptr : &found->value;
}

Node& Node::below(std::string_view key) {
  kind = Kind::kMap;
  const auto found = std::ranges::find(members, key, &Member::key);
  if (found != members.end()) return found->value;
  return members.emplace_back(Member{std::string(key), {}, {}}).value;
}

}  // namespace vesta::config
