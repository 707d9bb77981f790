#include "formats/flamegraph/flame_columns.h"

#include <deque>
#include <unordered_map>
#include <vector>

#include "base/leb128.h"
#include "base/table_hash.h"
#include "base/utf8.h"
#include "profile/frame_name.h"
#include "profile/frame_names.h"

namespace vesta {
namespace {

// All zeros need no bytes: most trees are not cut.
void put_weights(std::string& out, std::string_view column) {
  put_text(out, column.find_first_not_of('\0') == std::string_view::npos ? "" : column);
}

// Names with their strings, each once, numbered in the order in which they are asked for.
class NameRows {
 public:
  NameRows(const FrameNames& names, bool whole)
      : names_(names), whole_(whole), numbers_(names.size(), kUnseen) {
    string_number("");
  }

  uint32_t number(uint32_t name) {
    uint32_t& number = numbers_[name];
    if (number == kUnseen) {
      number = count_++;
      add(names_[name], name);
    }
    return number;
  }

  void put(std::string& out) const {
    put_varint(out, strings_.size());
    for (const std::string_view text : strings_) put_text(out, replace_invalid_utf8(text));
    put_varint(out, count_);
    out += rows_;
  }

 private:
  static constexpr uint32_t kUnseen = UINT32_MAX;

  void add(const FrameName& name, uint32_t id) {
    const bool is_whole = whole_ && id != 0;  // 0 is the root
    put_varint(rows_, string_number(is_whole ? texts_.emplace_back(names_.text(id)) : name.name));
    put_varint(rows_, string_number(name.file));
    put_varint(rows_, string_number(name.binary));
    put_signed(rows_, name.line);
    rows_.push_back(static_cast<char>(name.kind));
  }

  uint64_t string_number(std::string_view text) {
    const auto [at, is_new] = string_numbers_.try_emplace(text, string_numbers_.size());
    if (is_new) strings_.push_back(at->first);
    return at->second;
  }

  const FrameNames& names_;
  bool whole_;
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, uint64_t, TableKeyHash> string_numbers_;
  std::vector<std::string_view> strings_;
  std::vector<uint32_t> numbers_;  // by name
  uint32_t count_ = 0;
  std::string rows_;
};

}  // namespace

std::string write_flame_columns(std::string_view header, const FlameTree& tree,
                                const PrunedTree& pruned, const FlameColumnsOptions& options) {
  NameRows rows(*tree.names, options.whole_names);
  std::string pops, names, self, cut_nodes, cut, baseline_self, baseline_cut, inlined;
  std::vector<uint32_t> depth(pruned.nodes.size());
  for (size_t i = 0; i < pruned.nodes.size(); ++i) {
    const uint32_t node = pruned.nodes[i];
    if (i > 0) {
      depth[i] = depth[pruned.parent[i]] + 1;
      put_varint(pops, depth[i - 1] + 1 - depth[i]);
    }
    put_varint(names, rows.number(tree.name[node]));
    put_signed(self, tree.weights.self[node]);
    put_varint(cut_nodes, pruned.cut_nodes[i]);
    put_signed(cut, pruned.cut_weight[i]);
    if (tree.has_baseline()) {
      put_signed(baseline_self, tree.baseline.self[node]);
      put_signed(baseline_cut, pruned.cut_baseline[i]);
    }
    inlined.push_back(static_cast<char>(tree.inlined[node]));
  }
  std::string out = "VFC1";
  put_text(out, header);
  rows.put(out);
  put_varint(out, pruned.nodes.size());
  put_text(out, pops);
  put_text(out, names);
  for (const std::string* column : {&self, &cut_nodes, &cut}) put_weights(out, *column);
  if (tree.has_baseline()) {
    put_weights(out, baseline_self);
    put_weights(out, baseline_cut);
  }
  if (options.says_inlined) put_text(out, inlined);
  return out;
}

}  // namespace vesta
