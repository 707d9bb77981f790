#include "server/native/flame_columns.h"

#include <unordered_map>
#include <vector>

#include "base/table_hash.h"
#include "base/utf8.h"
#include "base/varint.h"

namespace vesta::server {
namespace {

void put_block(std::string& out, std::string_view bytes) {
  put_varint(out, bytes.size());
  out += bytes;
}

// Strings of names, each once, in order of appearance; "" is number 0.
class Strings {
 public:
  uint64_t number(std::string_view text) {
    const auto [at, is_new] = numbers_.try_emplace(text, numbers_.size());
    if (is_new) order_.push_back(at->first);
    return at->second;
  }
  void write(std::string& out) const {
    put_varint(out, order_.size());
    for (const std::string_view text : order_) put_block(out, replace_invalid_utf8(text));
  }

 private:
  std::unordered_map<std::string_view, uint64_t, TableKeyHash> numbers_;
  std::vector<std::string_view> order_;
};

// The names that the nodes use, numbered in order of appearance.
struct NameColumns {
  NameColumns(const FlameTree& tree, const PrunedTree& pruned)
      : numbers(tree.names->size(), kUnseen) {
    strings.number("");
    for (const uint32_t node : pruned.nodes) {
      uint32_t& number = numbers[tree.name[node]];
      if (number != kUnseen) continue;
      number = count++;
      const FrameName& name = (*tree.names)[tree.name[node]];
      put_varint(rows, strings.number(name.name));
      put_varint(rows, strings.number(name.file));
      put_varint(rows, strings.number(name.binary));
      put_signed(rows, name.line);
      rows.push_back(static_cast<char>(name.kind));
    }
  }
  static constexpr uint32_t kUnseen = UINT32_MAX;
  std::vector<uint32_t> numbers;  // by name of the tree
  uint32_t count = 0;
  Strings strings;
  std::string rows;
};

}  // namespace

std::string write_flame_columns(std::string_view header, const FlameTree& tree,
                                const PrunedTree& pruned) {
  const NameColumns names(tree, pruned);
  std::string pops;
  std::string name;
  std::string self;
  std::string cut_nodes;
  std::string cut_weight;
  std::string self_before;
  std::string cut_before;
  std::vector<uint32_t> depth(pruned.nodes.size());
  for (size_t i = 0; i < pruned.nodes.size(); ++i) {
    const uint32_t node = pruned.nodes[i];
    if (i > 0) {
      depth[i] = depth[pruned.parent[i]] + 1;
      put_varint(pops, depth[i - 1] + 1 - depth[i]);
    }
    put_varint(name, names.numbers[tree.name[node]]);
    put_signed(self, tree.weights.self[node]);
    put_varint(cut_nodes, pruned.cut_nodes[i]);
    put_signed(cut_weight, pruned.cut_weight[i]);
    if (!tree.has_baseline()) continue;
    put_signed(self_before, tree.baseline.self[node]);
    put_signed(cut_before, pruned.cut_baseline[i]);
  }
  std::string out = "VFC1";
  put_block(out, header);
  names.strings.write(out);
  put_varint(out, names.count);
  out += names.rows;
  put_varint(out, pruned.nodes.size());
  for (const std::string* column : {&pops, &name, &self, &cut_nodes, &cut_weight})
    put_block(out, *column);
  if (tree.has_baseline()) {
    put_block(out, self_before);
    put_block(out, cut_before);
  }
  return out;
}

}  // namespace vesta::server
