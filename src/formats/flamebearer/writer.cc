#include "formats/flamebearer/writer.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <vector>

#include "base/json_writer.h"
#include "base/table_hash.h"
#include "profile/frame_name.h"

namespace vesta {
namespace {

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::string_view kOther = "other";

struct Node {
  StringId name;
  uint32_t parent = 0;
  int64_t self = 0;
  int64_t total = 0;
  std::vector<uint32_t> children;
};

// Calls by name from the root; parents stand before their children.
class Tree {
 public:
  Tree(const Dictionary& dictionary, const Profile& profile, size_t type)
      : dictionary_(dictionary), frame_names_(dictionary.locations.size()), nodes_(1) {
    for (size_t row = 0; row < profile.samples.size(); ++row) {
      const int64_t value = profile.value(row, type);
      if (value > 0) add(dictionary.stacks[profile.samples.stacks[row]], value);
    }
    for (size_t at = nodes_.size(); at-- > 0;) {
      Node& node = nodes_[at];
      node.total = saturating_add(node.total, node.self);
      if (at > 0) {
        Node& parent = nodes_[node.parent];
        parent.total = saturating_add(parent.total, node.total);
      }
      std::ranges::sort(node.children, {},
                        [&](uint32_t child) { return name(nodes_[child].name); });
    }
  }

  const Node& operator[](uint32_t at) const { return nodes_[at]; }
  std::string_view name(StringId id) const { return names_[id]; }

  // The smallest total among the `max_nodes` largest.
  int64_t threshold(size_t max_nodes) const {
    if (max_nodes == 0 || nodes_.size() - 1 <= max_nodes) return 0;
    std::vector<int64_t> totals;
    for (size_t at = 1; at < nodes_.size(); ++at) totals.push_back(nodes_[at].total);
    const auto nth = totals.begin() + static_cast<std::ptrdiff_t>(max_nodes - 1);
    std::ranges::nth_element(totals, nth, std::ranges::greater());
    return *nth;
  }

 private:
  void add(std::span<const LocationId> stack, int64_t value) {
    uint32_t node = 0;
    for (size_t at = stack.size(); at-- > 0;) {
      const auto& names = names_of(stack[at]);
      for (const StringId name : names) node = child(node, name);
    }
    nodes_[node].self = saturating_add(nodes_[node].self, value);
  }

  // Root side first.
  const std::vector<StringId>& names_of(LocationId location) {
    std::vector<StringId>& names = frame_names_[location.index()];
    if (names.empty()) {
      for (size_t line = frame_count(dictionary_, location); line-- > 0;) {
        names.push_back(names_.intern(frame_name(dictionary_, location, line)));
      }
    }
    return names;
  }

  uint32_t child(uint32_t parent, StringId name) {
    const uint64_t key = uint64_t{parent} << 32 | name.value;
    const auto [entry, is_new] = index_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
    if (is_new) {
      nodes_[parent].children.push_back(entry->second);
      Node& node = nodes_.emplace_back();
      node.name = name;
      node.parent = parent;
    }
    return entry->second;
  }

  const Dictionary& dictionary_;
  std::vector<std::vector<StringId>> frame_names_;  // by location
  StringTable names_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t, TableKeyHash> index_;  // parent and name to node
};

struct Bar {
  const Node* node = nullptr;  // none for `other`, which has no children
  std::string_view name;
  int64_t begin = 0;
  int64_t total = 0;
  int64_t self = 0;
};

// A node's children as bars from its own self value on, with small ones gathered.
void append_children(const Tree& tree, const Bar& parent, int64_t threshold,
                     std::vector<Bar>& bars) {
  if (parent.node == nullptr) return;
  const size_t first = bars.size();
  int64_t small = 0;
  for (const uint32_t at : parent.node->children) {
    const Node& node = tree[at];
    if (node.total < threshold) {
      small = saturating_add(small, node.total);
    } else {
      bars.push_back({&node, tree.name(node.name), 0, node.total, node.self});
    }
  }
  if (small > 0) {
    const auto same = std::find_if(bars.begin() + static_cast<std::ptrdiff_t>(first), bars.end(),
                                   [](const Bar& bar) { return bar.name == kOther; });
    if (same == bars.end()) {
      bars.push_back({nullptr, kOther, 0, small, small});
    } else {
      same->total = saturating_add(same->total, small);
      same->self = saturating_add(same->self, small);
    }
  }
  int64_t begin = saturating_add(parent.begin, parent.self);
  for (size_t at = first; at < bars.size(); ++at) {
    bars[at].begin = begin;
    begin = saturating_add(begin, bars[at].total);
  }
}

// The names of the file in order of first use.
class NameList {
 public:
  NameList() { index_of("total"); }
  int64_t index_of(std::string_view name) {
    const auto [entry, is_new] = index_.try_emplace(name, static_cast<int64_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return entry->second;
  }
  const std::vector<std::string_view>& names() const { return names_; }

 private:
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, int64_t, TableKeyHash> index_;
};

struct UnitWords {
  std::string_view units = "samples";
  int64_t sample_rate = 100;
};

// As Pyroscope words them: CPU time is counted in samples at a rate of 1e9.
UnitWords unit_words(const Dictionary& dictionary, const Profile& profile, size_t type_index) {
  const std::string_view type = dictionary.string(profile.sample_types[type_index].type);
  const std::string_view unit = dictionary.string(profile.sample_types[type_index].unit);
  if (type == "cpu" && unit == "nanoseconds") return {"samples", kNanosecondsPerSecond};
  if (type == "samples") {
    const bool has_rate = dictionary.string(profile.period_type.unit) == "nanoseconds" &&
                          profile.period > 0 && profile.period <= kNanosecondsPerSecond;
    return {"samples", has_rate ? kNanosecondsPerSecond / profile.period : 100};
  }
  if (type.ends_with("objects") || type.starts_with("goroutine")) return {"objects", 100};
  return {unit, 100};
}

}  // namespace

std::string write_flamebearer(const ProfileBatch& batch, const FlamebearerOptions& options) {
  static const Profile kNoProfile;
  const bool has_type = options.profile < batch.profiles.size() &&
                        options.type < batch.profiles[options.profile].sample_types.size();
  const Profile& profile = has_type ? batch.profiles[options.profile] : kNoProfile;
  const Tree tree(batch.dictionary, profile, options.type);
  const int64_t threshold = tree.threshold(options.max_nodes);

  JsonWriter json;
  NameList names;
  int64_t max_self = 0;
  json.begin_object();
  json.field("version", int64_t{1});
  json.key("flamebearer").begin_object();
  json.key("levels").begin_array();
  std::vector<Bar> level = {{&tree[0], "total", 0, tree[0].total, tree[0].self}};
  std::vector<Bar> next;
  while (!level.empty()) {
    json.begin_array();
    next.clear();
    int64_t end = 0;
    for (const Bar& bar : level) {
      json.number(bar.begin - end)
          .number(bar.total)
          .number(bar.self)
          .number(names.index_of(bar.name));
      end = saturating_add(bar.begin, bar.total);
      max_self = std::max(max_self, bar.self);
      append_children(tree, bar, threshold, next);
    }
    json.end_array();
    level.swap(next);
  }
  json.end_array();
  json.key("names").begin_array();
  for (const std::string_view name : names.names()) json.string(name);
  json.end_array();
  json.field("numTicks", tree[0].total);
  json.field("maxSelf", max_self);
  json.end_object();

  const UnitWords words =
      has_type ? unit_words(batch.dictionary, profile, options.type) : UnitWords{};
  json.key("metadata").begin_object();
  json.field("format", "single");
  json.field("spyName", "");
  json.field("sampleRate", words.sample_rate);
  json.field("units", words.units);
  json.field("name", options.name.empty() ? batch.dictionary.string(profile.name) : options.name);
  json.field("appName", options.app_name);
  json.end_object();
  json.end_object();
  return json.take();
}

}  // namespace vesta
