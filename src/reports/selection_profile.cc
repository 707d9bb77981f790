#include "reports/selection_profile.h"

#include <algorithm>
#include <memory>

#include "base/id_index.h"
#include "base/table_hash.h"
#include "profile/dictionary_builder.h"
#include "store/engine.h"

namespace vesta {
namespace {

constexpr uint64_t kPage = 4096;

// What is left of a service's tree, node by node.
class LeftTree {
 public:
  explicit LeftTree(bool is_filtered) : is_filtered_(is_filtered) { nodes_.push_back({}); }

  struct Node {
    uint32_t parent = 0;
    TreeFrame frame;
    bool inlined = false;  // of one location with its parent
    int64_t weight = 0;
  };

  uint32_t child(uint32_t parent, TreeFrame frame, bool inlined) {
    const auto add = [&] {
      nodes_.push_back({parent, frame, inlined, 0});
      return static_cast<uint32_t>(nodes_.size() - 1);
    };
    // Paths of a whole tree are all different.
    if (!is_filtered_) return add();
    return index_.find_or_insert(
        TableHash().add(uint64_t{parent} << 32 | frame.value).add(inlined ? 1 : 0).value(),
        [&](uint32_t at) {
          const Node& node = nodes_[at];
          return node.parent == parent && node.frame == frame && node.inlined == inlined;
        },
        add);
  }
  void add_weight(uint32_t node, int64_t weight) {
    nodes_[node].weight = saturating_add(nodes_[node].weight, weight);
  }
  const std::vector<Node>& nodes() const { return nodes_; }

 private:
  bool is_filtered_;
  std::vector<Node> nodes_;
  IdIndex index_;
};

// Adds the frames and stacks of one service to the dictionary of the batch.
class ServiceConverter {
 public:
  ServiceConverter(DictionaryBuilder& builder, const StackTree& tree,
                   const std::vector<LeftTree::Node>& nodes)
      : builder_(builder),
        tree_(tree),
        nodes_(nodes),
        strings_(tree.string_count()),
        lines_(tree.frame_count()),
        has_line_(tree.frame_count()),
        mappings_(tree.frame_count()),
        has_mapping_(tree.frame_count()),
        locations_(nodes.size()) {}

  StackId stack(uint32_t leaf) {
    stack_.clear();
    for (uint32_t at = leaf; at != 0;) {
      stack_.push_back(location(at));
      while (nodes_[at].inlined) at = nodes_[at].parent;
      at = nodes_[at].parent;
    }
    return builder_.dictionary().stacks.add(stack_);
  }

 private:
  LocationId location(uint32_t node) {
    LocationId& known = locations_[node];
    if (known) return known;
    const StoredFrame& frame = tree_.stored_frame(nodes_[node].frame);
    Location place;
    place.kind = frame.kind;
    place.mapping = mapping(nodes_[node].frame);
    place_lines_.clear();
    if (nodes_[node].inlined || has_line(frame)) {
      uint32_t at = node;
      place_lines_.push_back(line(nodes_[at].frame));
      while (nodes_[at].inlined) {
        at = nodes_[at].parent;
        place_lines_.push_back(line(nodes_[at].frame));
      }
    } else {
      place.address = frame.address;
    }
    known = builder_.location(place, place_lines_);
    return known;
  }

  StringId string(TreeString id) {
    StringId& known = strings_[id.index()];
    if (!known && id) known = builder_.string(tree_.string(id));
    return known;
  }

  Line line(TreeFrame id) {
    Line& known = lines_[id.index()];
    if (has_line_[id.index()] != 0) return known;
    has_line_[id.index()] = 1;
    const StoredFrame& frame = tree_.stored_frame(id);
    known.line = frame.line;
    known.column = frame.column;
    if (has_function(frame)) {
      known.function = builder_.function(
          {string(frame.name), string(frame.system_name), string(frame.file), frame.start_line});
    }
    return known;
  }

  MappingId mapping(TreeFrame id) {
    MappingId& known = mappings_[id.index()];
    if (has_mapping_[id.index()] != 0) return known;
    has_mapping_[id.index()] = 1;
    const StoredFrame& frame = tree_.stored_frame(id);
    if (!frame.binary && !frame.build_id) return known;
    Mapping mapping;
    mapping.file = string(frame.binary);
    mapping.build_id = string(frame.build_id);
    known = builder_.mapping(mapping);
    return known;
  }

  DictionaryBuilder& builder_;
  const StackTree& tree_;
  const std::vector<LeftTree::Node>& nodes_;
  std::vector<StringId> strings_;
  std::vector<Line> lines_;
  std::vector<uint8_t> has_line_;
  std::vector<MappingId> mappings_;
  std::vector<uint8_t> has_mapping_;
  std::vector<LocationId> locations_;
  std::vector<LocationId> stack_;  // scratch
  std::vector<Line> place_lines_;  // scratch
};

// Says of each mapping what is known of its frames, and lets it reach as far as its addresses.
void complete_mappings(Dictionary& d) {
  for (size_t i = 1; i < d.mappings.size(); ++i) {
    Mapping& mapping = d.mappings[i];
    mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
    // pprof takes mappings whose ends meet for one; these begin at 0, so none may end there.
    mapping.limit = kPage;
  }
  for (size_t i = 1; i < d.locations.size(); ++i) {
    const Location& location = d.locations[i];
    if (!location.mapping) continue;
    Mapping& mapping = d.mappings[location.mapping.index()];
    const auto lines = d.lines[LocationId(i)];
    if (lines.empty()) mapping.has_functions = mapping.has_filenames = false;
    if (lines.empty()) mapping.has_line_numbers = false;
    if (lines.size() > 1) mapping.has_inline_frames = true;
    for (const Line& line : lines) {
      if (!d.function(line.function).file) mapping.has_filenames = false;
      if (line.line == 0) mapping.has_line_numbers = false;
    }
    if (location.address >= mapping.limit) {
      mapping.limit = location.address > UINT64_MAX - kPage
                          ? UINT64_MAX
                          : location.address / kPage * kPage + kPage;
    }
  }
}

Profile header_of(DictionaryBuilder& builder, const Selection& selection) {
  Profile profile;
  const ProfileType& type = selection.type;
  profile.name = builder.string(type.name);
  profile.sample_types = {
      {builder.string(type.sample_type), builder.string(type.sample_unit), type.temporality()}};
  profile.period_type = {builder.string(type.period_type), builder.string(type.period_unit),
                         Temporality::kCumulative};
  profile.period = selection.period;
  profile.time_ns = selection.first_ns;
  profile.duration_ns = selection.covered.duration_ns();
  return profile;
}

}  // namespace

ProfileBatch to_profile_batch(const Selection& selection, const StackFilter& filter) {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  const Profile header = header_of(builder, selection);
  for (const ServiceStacks& service : selection.services) {
    LeftTree left(!filter.empty());
    place_stacks(
        service.tree, service.weights, filter,
        [&](uint32_t parent, TreeFrame frame, bool inlined) {
          return left.child(parent, frame, inlined);
        },
        [&](StackNumber stack, uint32_t node) {
          left.add_weight(node, service.weights[stack.index()]);
        });
    Profile profile = header;
    if (selection.services.size() > 1) {
      const Label label = builder.text_label(kServiceLabel, service.service);
      profile.resource = builder.label_set(std::span(&label, 1));
    }
    ServiceConverter converter(builder, service.tree, left.nodes());
    for (uint32_t node = 0; node < left.nodes().size(); ++node) {
      const int64_t weight = left.nodes()[node].weight;
      if (weight == 0) continue;
      profile.add_sample(node == 0 ? StackId() : converter.stack(node), std::span(&weight, 1));
    }
    batch.profiles.push_back(std::move(profile));
  }
  if (batch.profiles.empty()) batch.profiles.push_back(header);
  for (const LossCount& loss : selection.losses)
    batch.profiles[0].add_loss(builder.string(loss.reason), loss.count);
  complete_mappings(batch.dictionary);
  return batch;
}

}  // namespace vesta
