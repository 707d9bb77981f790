#include <algorithm>
#include <array>
#include <cstring>

#include "agent/export/queue/batch_log.h"
#include "base/byte_cursor.h"
#include "formats/common/compression.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kMaxRecordBytes = uint64_t{1} << 30;
constexpr size_t kMaxStackDepth = 1 << 16;
// Of all stacks of a log together; a day of real ones has far fewer.
constexpr size_t kMaxStackItems = size_t{1} << 27;

const Error& damaged() {
  static const Error kError{ErrorCode::kInvalidInput,
                            "a record of the queue, or one before it, is damaged", ""};
  return kError;
}

}  // namespace

// Reads one record into the tables of a reader. Every number is checked before it is used; the
// first that is off ends it.
class BatchLogDecoder {
 public:
  BatchLogDecoder(BatchLogReader& reader, std::string_view bytes)
      : dictionary_(reader.dictionary_), nodes_(reader.nodes_), in_(bytes) {}

  bool read(std::vector<Profile>& profiles) {
    return in_.uleb() == kBatchLogVersion && follows() && read_strings() && read_functions() &&
           read_mappings() && read_locations() && read_label_sets() && read_links() &&
           read_nodes() && read_stacks() && read_profiles(profiles) && in_.ok() && in_.at_end();
  }

 private:
  bool follows() {
    const std::array<uint64_t, 8> have = {dictionary_.strings.size(),
                                          dictionary_.functions.size(),
                                          dictionary_.mappings.size(),
                                          dictionary_.locations.size(),
                                          dictionary_.label_sets.size(),
                                          dictionary_.links.size(),
                                          nodes_.size(),
                                          dictionary_.stacks.size()};
    return std::ranges::all_of(have, [&](uint64_t size) { return in_.uleb() == size; });
  }

  // How many of something come, each of which takes at least a byte.
  bool count(uint64_t& value) {
    value = in_.uleb();
    return in_.ok() && value <= in_.remaining();
  }
  int64_t number() {
    const uint64_t raw = in_.uleb();
    return static_cast<int64_t>(raw >> 1 ^ (~(raw & 1) + 1));
  }
  template <class Id>
  bool id(Id& out, size_t size) {
    const uint64_t value = in_.uleb();
    if (!in_.ok() || value >= size) return false;
    out = Id(value);
    return true;
  }
  bool text(StringId& out) { return id(out, dictionary_.strings.size()); }

  bool read_strings() {
    uint64_t strings = 0;
    if (!count(strings)) return false;
    for (uint64_t i = 0; i < strings; ++i) {
      const uint64_t length = in_.uleb();
      const std::string_view bytes = in_.bytes(length);
      if (!in_.ok()) return false;
      dictionary_.strings.add(bytes);
    }
    return true;
  }

  bool read_functions() {
    uint64_t functions = 0;
    if (!count(functions)) return false;
    for (uint64_t i = 0; i < functions; ++i) {
      Function function;
      if (!text(function.name)) return false;
      const int64_t system = number() + int64_t{function.name.value};
      if (system < 0 || static_cast<uint64_t>(system) >= dictionary_.strings.size()) return false;
      function.system_name = StringId(static_cast<size_t>(system));
      if (!text(function.file)) return false;
      function.start_line = number();
      dictionary_.functions.push_back(function);
    }
    return true;
  }

  bool read_mappings() {
    uint64_t mappings = 0;
    if (!count(mappings)) return false;
    for (uint64_t i = 0; i < mappings; ++i) {
      Mapping mapping;
      mapping.start = in_.uleb();
      mapping.limit = mapping.start + in_.uleb();
      mapping.file_offset = in_.uleb();
      if (!text(mapping.file) || !text(mapping.build_id)) return false;
      const uint64_t flags = in_.uleb();
      mapping.has_functions = (flags & 1) != 0;
      mapping.has_filenames = (flags & 2) != 0;
      mapping.has_line_numbers = (flags & 4) != 0;
      mapping.has_inline_frames = (flags & 8) != 0;
      dictionary_.mappings.push_back(mapping);
    }
    return true;
  }

  bool read_locations() {
    uint64_t locations = 0;
    if (!count(locations)) return false;
    std::vector<Line> lines;
    uint64_t address = 0;
    for (uint64_t i = 0; i < locations; ++i) {
      Location location;
      address += static_cast<uint64_t>(number());
      location.address = address;
      if (!id(location.mapping, dictionary_.mappings.size())) return false;
      const uint64_t kind = in_.uleb();
      if (kind >> 1 > static_cast<uint64_t>(FrameKind::kLuajit)) return false;
      location.kind = static_cast<FrameKind>(kind >> 1);
      location.is_folded = (kind & 1) != 0;
      uint64_t line_count = 0;
      if (!count(line_count)) return false;
      lines.clear();
      for (uint64_t j = 0; j < line_count; ++j) {
        Line line;
        if (!id(line.function, dictionary_.functions.size())) return false;
        line.line = number();
        line.column = static_cast<uint32_t>(in_.uleb());
        lines.push_back(line);
      }
      dictionary_.add_location(location, lines);
    }
    return true;
  }

  bool read_label_sets() {
    uint64_t sets = 0;
    if (!count(sets)) return false;
    std::vector<Label> labels;
    for (uint64_t i = 0; i < sets; ++i) {
      uint64_t label_count = 0;
      if (!count(label_count)) return false;
      labels.clear();
      for (uint64_t j = 0; j < label_count; ++j) {
        Label label;
        const uint64_t key = in_.uleb();
        if (!in_.ok() || key >> 1 >= dictionary_.strings.size()) return false;
        label.key = StringId(key >> 1);
        label.kind = (key & 1) != 0 ? LabelKind::kNumber : LabelKind::kString;
        const bool is_number = label.kind == LabelKind::kNumber;
        if (!text(is_number ? label.unit : label.text)) return false;
        if (is_number) label.number = number();
        labels.push_back(label);
      }
      dictionary_.label_sets.add(labels);
    }
    return true;
  }

  bool read_links() {
    uint64_t links = 0;
    if (!count(links)) return false;
    for (uint64_t i = 0; i < links; ++i) {
      Link link;
      const std::string_view trace = in_.bytes(link.trace_id.size());
      const std::string_view span = in_.bytes(link.span_id.size());
      if (!in_.ok()) return false;
      std::memcpy(link.trace_id.data(), trace.data(), trace.size());
      std::memcpy(link.span_id.data(), span.data(), span.size());
      dictionary_.links.push_back(link);
    }
    return true;
  }

  bool read_nodes() {
    uint64_t nodes = 0;
    if (!count(nodes) || nodes_.size() + nodes > UINT32_MAX) return false;
    for (uint64_t i = 0; i < nodes; ++i) {
      const uint64_t back = in_.uleb();
      LocationId location;
      if (!id(location, dictionary_.locations.size())) return false;
      // Parents come first, so that a walk up ends.
      if (back == 0 || back > nodes_.size()) return false;
      nodes_.push_back((nodes_.size() - back) << 32 | location.value);
    }
    return true;
  }

  bool read_stacks() {
    uint64_t stacks = 0;
    if (!count(stacks)) return false;
    int64_t node = 0;
    std::vector<LocationId> stack;
    for (uint64_t i = 0; i < stacks; ++i) {
      node = static_cast<int64_t>(static_cast<uint64_t>(node) + static_cast<uint64_t>(number()));
      if (!in_.ok() || node < 0 || static_cast<uint64_t>(node) >= nodes_.size()) return false;
      stack.clear();
      for (auto at = static_cast<uint64_t>(node); at != 0; at = nodes_[at] >> 32) {
        if (stack.size() == kMaxStackDepth) return false;
        stack.push_back(LocationId(nodes_[at] & UINT32_MAX));
      }
      if (dictionary_.stacks.item_count() + stack.size() > kMaxStackItems) return false;
      dictionary_.stacks.add(stack);
    }
    return true;
  }

  bool read_profiles(std::vector<Profile>& profiles) {
    uint64_t profile_count = 0;
    if (!count(profile_count)) return false;
    for (uint64_t i = 0; i < profile_count; ++i) {
      if (!read_profile(profiles.emplace_back())) return false;
    }
    return true;
  }

  bool read_type(SampleType& type) {
    if (!text(type.type) || !text(type.unit)) return false;
    type.temporality = in_.uleb() == 0 ? Temporality::kCumulative : Temporality::kInstant;
    return in_.ok();
  }

  bool read_profile(Profile& profile) {
    uint64_t items = 0;
    if (!text(profile.name) || !id(profile.resource, dictionary_.label_sets.size()) ||
        !count(items))
      return false;
    profile.sample_types.resize(items);
    for (SampleType& type : profile.sample_types) {
      if (!read_type(type)) return false;
    }
    if (!read_type(profile.period_type)) return false;
    profile.period = number();
    profile.time_ns = number();
    profile.duration_ns = number();
    const uint64_t shown = in_.uleb();
    if (shown != 0 && shown >= profile.sample_types.size()) return false;
    profile.default_type = static_cast<uint32_t>(shown);
    if (!count(items)) return false;
    profile.comments.resize(items);
    for (StringId& comment : profile.comments) {
      if (!text(comment)) return false;
    }
    for (StringId* field : {&profile.doc_url, &profile.drop_frames, &profile.keep_frames}) {
      if (!text(*field)) return false;
    }
    if (!count(items)) return false;
    profile.losses.resize(items);
    for (Loss& loss : profile.losses) {
      if (!text(loss.reason)) return false;
      loss.count = in_.uleb();
    }
    return read_samples(profile);
  }

  template <class Id>
  bool id_column(std::vector<Id>& column, uint64_t rows, size_t size) {
    uint64_t value = 0;
    column.resize(rows);
    for (Id& out : column) {
      value += static_cast<uint64_t>(number());
      if (!in_.ok() || value >= size) return false;
      out = Id(value);
    }
    return true;
  }

  bool read_samples(Profile& profile) {
    Samples& samples = profile.samples;
    uint64_t rows = 0;
    if (!count(rows)) return false;
    const uint64_t columns = in_.uleb();
    if (!id_column(samples.stacks, rows, dictionary_.stacks.size())) return false;
    if ((columns & 1) != 0 && !id_column(samples.labels, rows, dictionary_.label_sets.size()))
      return false;
    if ((columns & 2) != 0 && !id_column(samples.links, rows, dictionary_.links.size()))
      return false;
    uint64_t time = 0;
    if ((columns & 4) != 0) samples.times_ns.resize(rows);
    for (int64_t& out : samples.times_ns)
      out = static_cast<int64_t>(time += static_cast<uint64_t>(number()));
    const size_t types = profile.sample_types.size();
    if (types != 0 && rows > in_.remaining() / types) return false;
    samples.values.resize(rows * types);
    for (size_t type = 0; type < types; ++type) {
      uint64_t value = 0;
      for (uint64_t row = 0; row < rows; ++row) {
        value += static_cast<uint64_t>(number());
        samples.values[row * types + type] = static_cast<int64_t>(value);
      }
    }
    return in_.ok();
  }

  Dictionary& dictionary_;
  std::vector<uint64_t>& nodes_;
  ByteCursor in_;
};

Status BatchLogReader::append(std::string_view record) {
  profiles_.clear();
  if (detect_compression(record) != Compression::kZstd) return damaged();
  const auto bytes = unzstd(record, kMaxRecordBytes);
  if (!bytes) return damaged();
  if (!BatchLogDecoder(*this, *bytes).read(profiles_)) {
    profiles_.clear();
    return damaged();
  }
  return {};
}

}  // namespace vesta::agent
