#include "agent/export/queue/batch_log.h"

#include "base/leb128.h"
#include "base/table_hash.h"
#include "formats/common/compression.h"
#include "profile/merge/dictionary_map.h"

namespace vesta::agent {
namespace {

constexpr int kLevel = 3;  // 6 takes twice the time for 7 % less

void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out.append(text);
}

void put_sizes(std::string& out, const TableSizes& sizes) {
  for (const uint64_t size : {sizes.strings, sizes.functions, sizes.mappings, sizes.locations,
                              sizes.label_sets, sizes.links, sizes.nodes, sizes.stacks})
    put_varint(out, size);
}

void put_location(std::string& out, const Dictionary& dictionary, LocationId id,
                  uint64_t& last_address) {
  const Location& location = dictionary.location(id);
  // Places in one binary are near each other.
  put_signed(out, static_cast<int64_t>(location.address - last_address));
  last_address = location.address;
  put_varint(out, location.mapping.value);
  put_varint(out, static_cast<uint64_t>(location.kind) << 1 | (location.is_folded ? 1 : 0));
  put_varint(out, dictionary.lines[id].size());
  for (const Line& line : dictionary.lines[id]) {
    put_varint(out, line.function.value);
    put_signed(out, line.line);
    put_varint(out, line.column);
  }
}

void put_mapping(std::string& out, const Mapping& mapping) {
  put_varint(out, mapping.start);
  put_varint(out, mapping.limit - mapping.start);
  put_varint(out, mapping.file_offset);
  put_varint(out, mapping.file.value);
  put_varint(out, mapping.build_id.value);
  put_varint(out, (mapping.has_functions ? 1 : 0) | (mapping.has_filenames ? 2 : 0) |
                      (mapping.has_line_numbers ? 4 : 0) | (mapping.has_inline_frames ? 8 : 0));
}

void put_labels(std::string& out, std::span<const Label> labels) {
  put_varint(out, labels.size());
  for (const Label& label : labels) {
    const bool is_number = label.kind == LabelKind::kNumber;
    put_varint(out, uint64_t{label.key.value} << 1 | (is_number ? 1 : 0));
    put_varint(out, is_number ? label.unit.value : label.text.value);
    if (is_number) put_signed(out, label.number);
  }
}

void put_type(std::string& out, DictionaryMap& map, const SampleType& type) {
  put_varint(out, map.string(type.type).value);
  put_varint(out, map.string(type.unit).value);
  put_varint(out, static_cast<uint64_t>(type.temporality));
}

// Differences to the value before.
class DeltaColumn {
 public:
  explicit DeltaColumn(std::string& out) : out_(out) {}
  void put(int64_t value) {
    const auto difference = static_cast<uint64_t>(value) - static_cast<uint64_t>(last_);
    put_signed(out_, static_cast<int64_t>(difference));
    last_ = value;
  }

 private:
  std::string& out_;
  int64_t last_ = 0;
};

void put_profile(std::string& out, DictionaryMap& map, const Profile& profile) {
  put_varint(out, map.string(profile.name).value);
  put_varint(out, map.label_set(profile.resource).value);
  put_varint(out, profile.sample_types.size());
  for (const SampleType& type : profile.sample_types) put_type(out, map, type);
  put_type(out, map, profile.period_type);
  put_signed(out, profile.period);
  put_signed(out, profile.time_ns);
  put_signed(out, profile.duration_ns);
  put_varint(out, profile.default_type);
  put_varint(out, profile.comments.size());
  for (const StringId comment : profile.comments) put_varint(out, map.string(comment).value);
  for (const StringId text : {profile.doc_url, profile.drop_frames, profile.keep_frames})
    put_varint(out, map.string(text).value);
  put_varint(out, profile.losses.size());
  for (const Loss& loss : profile.losses) {
    put_varint(out, map.string(loss.reason).value);
    put_varint(out, loss.count);
  }
  const Samples& samples = profile.samples;
  put_varint(out, samples.size());
  put_varint(out, (samples.labels.empty() ? 0 : 1) | (samples.links.empty() ? 0 : 2) |
                      (samples.times_ns.empty() ? 0 : 4));
  const auto column = [&](const auto& ids, auto&& map_id) {
    DeltaColumn deltas(out);
    for (const auto id : ids) deltas.put(map_id(id));
  };
  column(samples.stacks, [&](StackId id) { return int64_t{map.stack(id).value}; });
  column(samples.labels, [&](LabelSetId id) { return int64_t{map.label_set(id).value}; });
  column(samples.links, [&](LinkId id) { return int64_t{map.link(id).value}; });
  column(samples.times_ns, [](int64_t time) { return time; });
  const size_t types = profile.sample_types.size();
  for (size_t type = 0; type < types; ++type) {
    DeltaColumn values(out);
    for (size_t row = 0; row < samples.size(); ++row) values.put(profile.value(row, type));
  }
}

}  // namespace

TableSizes BatchLogWriter::sizes() const {
  return {dictionary_.strings.size(),
          dictionary_.functions.size(),
          dictionary_.mappings.size(),
          dictionary_.locations.size(),
          dictionary_.label_sets.size(),
          dictionary_.links.size(),
          nodes_.size(),
          stack_nodes_.size()};
}

size_t BatchLogWriter::byte_size() const {
  return dictionary_.strings.byte_size() + 24 * dictionary_.strings.size() +
         48 * dictionary_.functions.size() + 64 * dictionary_.locations.size() +
         8 * dictionary_.stacks.item_count() + 48 * nodes_.size() + 24 * stack_nodes_.size();
}

uint32_t BatchLogWriter::node_of(StackId stack) {
  uint32_t node = 0;
  const auto locations = dictionary_.stacks[stack];
  for (auto at = locations.rbegin(); at != locations.rend(); ++at) {
    const uint64_t key = uint64_t{node} << 32 | at->value;
    node = node_index_.find_or_insert(
        TableHash().add(key).value(), [&](uint32_t known) { return nodes_[known] == key; },
        [&] {
          nodes_.push_back(key);
          return static_cast<uint32_t>(nodes_.size() - 1);
        });
  }
  return node;
}

void BatchLogWriter::put_tables(std::string& out, const TableSizes& from) const {
  const TableSizes to = sizes();
  put_varint(out, to.strings - from.strings);
  for (uint64_t i = from.strings; i < to.strings; ++i)
    put_text(out, dictionary_.strings[StringId(i)]);
  put_varint(out, to.functions - from.functions);
  for (uint64_t i = from.functions; i < to.functions; ++i) {
    const Function& function = dictionary_.functions[i];
    put_varint(out, function.name.value);
    put_signed(out, int64_t{function.system_name.value} - int64_t{function.name.value});
    put_varint(out, function.file.value);
    put_signed(out, function.start_line);
  }
  put_varint(out, to.mappings - from.mappings);
  for (uint64_t i = from.mappings; i < to.mappings; ++i) put_mapping(out, dictionary_.mappings[i]);
  put_varint(out, to.locations - from.locations);
  uint64_t last_address = 0;
  for (uint64_t i = from.locations; i < to.locations; ++i)
    put_location(out, dictionary_, LocationId(i), last_address);
  put_varint(out, to.label_sets - from.label_sets);
  for (uint64_t i = from.label_sets; i < to.label_sets; ++i)
    put_labels(out, dictionary_.label_sets[LabelSetId(i)]);
  put_varint(out, to.links - from.links);
  for (uint64_t i = from.links; i < to.links; ++i) {
    const Link& link = dictionary_.links[i];
    out.append(reinterpret_cast<const char*>(link.trace_id.data()), link.trace_id.size());
    out.append(reinterpret_cast<const char*>(link.span_id.data()), link.span_id.size());
  }
  put_varint(out, to.nodes - from.nodes);
  for (uint64_t i = from.nodes; i < to.nodes; ++i) {
    put_varint(out, i - (nodes_[i] >> 32));  // most follow their parent
    put_varint(out, nodes_[i] & UINT32_MAX);
  }
  put_varint(out, to.stacks - from.stacks);
  DeltaColumn stacks(out);
  for (uint64_t i = from.stacks; i < to.stacks; ++i) stacks.put(stack_nodes_[i]);
}

std::string BatchLogWriter::append(const ProfileBatch& batch) {
  const TableSizes from = sizes();
  std::string rows;
  DictionaryMap map(batch.dictionary, builder_);
  put_varint(rows, batch.profiles.size());
  for (const Profile& profile : batch.profiles) put_profile(rows, map, profile);
  while (stack_nodes_.size() < dictionary_.stacks.size())
    stack_nodes_.push_back(node_of(StackId(stack_nodes_.size())));
  std::string out;
  put_varint(out, kBatchLogVersion);
  put_sizes(out, from);
  put_tables(out, from);
  out += rows;
  return zstd(out, kLevel);
}

}  // namespace vesta::agent
