#include "ingest/pyroscope/stack_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/leb128.h"
#include "base/text.h"
#include "formats/common/line_reader.h"
#include "formats/common/name_cleaner.h"
#include "formats/common/parse_error.h"
#include "formats/common/stack_budget.h"
#include "profile/dictionary_builder.h"
#include "profile/sample_table.h"

namespace vesta::pyroscope {
namespace {

constexpr uint64_t kMaxChildren = 16'000;
constexpr uint64_t kMaxNameBytes = 65'535;

// The batch being made, with what bounds it.
class StackCollector {
 public:
  StackCollector(std::string_view format, std::string_view bytes, const ReadOptions& options)
      : format_(format),
        options_(options),
        builder_(batch_.dictionary),
        names_(options),
        frames_left_(stack_frame_budget(bytes.size())) {}

  LocationId frame(std::string_view name) { return builder_.frame(names_.clean(name)); }

  // Root first; frames without a name are left out. A cut keeps the leaf.
  Status add(const std::vector<LocationId>& root_first, uint64_t value) {
    stack_.clear();
    for (size_t i = root_first.size(); i-- > 0;) {
      if (!root_first[i]) continue;
      // Stops here, because a chain of n calls has n stacks, which would be n times n steps.
      if (stack_.size() == options_.max_stack_depth) {
        names_.count_cut_stack();
        break;
      }
      stack_.push_back(root_first[i]);
    }
    if (stack_.size() > frames_left_)
      return limit_error(format_, "number of frames of all stacks", stack_frame_budget(0));
    frames_left_ -= stack_.size();
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    table_.add(builder_.stack(stack_), static_cast<int64_t>(std::min(value, kMax)));
    if (table_.size() > options_.max_samples)
      return limit_error(format_, "number of different stacks", options_.max_samples);
    return {};
  }

  Status add_folded(std::string_view text, uint64_t value) {
    frames_.clear();
    for (;;) {
      const size_t end = std::min(text.find(';'), text.size());
      if (end > 0) frames_.push_back(frame(text.substr(0, end)));
      if (end == text.size()) break;
      text.remove_prefix(end + 1);
    }
    return add(frames_, value);
  }

  ProfileBatch finish() {
    Profile profile;
    profile.sample_types.push_back(
        {builder_.string("samples"), builder_.string("count"), Temporality::kCumulative});
    profile.samples = table_.finish();
    names_.add_losses(profile, builder_);
    batch_.profiles.push_back(std::move(profile));
    return std::move(batch_);
  }

 private:
  std::string_view format_;
  const ReadOptions& options_;
  ProfileBatch batch_;
  DictionaryBuilder builder_;
  NameCleaner names_;
  SampleTable table_{1};
  size_t frames_left_;
  std::vector<LocationId> stack_;   // scratch
  std::vector<LocationId> frames_;  // scratch
};

struct Record {
  std::string_view name;
  uint64_t value = 0;
  uint64_t children = 0;
};

class RecordReader {
 public:
  RecordReader(std::string_view format, std::string_view bytes)
      : format_(format), bytes_(bytes), reader_(bytes) {}

  bool at_end() const { return reader_.at_end(); }
  size_t offset() const { return bytes_.size() - reader_.remaining(); }

  Result<Record> next() {
    Record record;
    const size_t start = offset();
    const uint64_t length = reader_.varint();
    if (!reader_.ok()) return cut_off("length of a name");
    if (length > kMaxNameBytes) {
      return parse_error(format_, start, fmt::format("a name of {} bytes", length),
                         "names have up to 65535 bytes; check the format");
    }
    if (length > reader_.remaining()) return cut_off("a name");
    record.name = reader_.bytes(length);
    record.value = reader_.varint();
    if (!reader_.ok()) return cut_off("a value");
    record.children = reader_.varint();
    if (!reader_.ok()) return cut_off("a number of children");
    if (record.children > kMaxChildren) {
      return parse_error(format_, start, fmt::format("one node has {} children", record.children),
                         fmt::format("the limit is {}", kMaxChildren));
    }
    return record;
  }

 private:
  Error cut_off(std::string_view what) const {
    return parse_error(format_, offset(), fmt::format("{} is cut off", what),
                       "the body is incomplete, or of another format");
  }

  std::string_view format_;
  std::string_view bytes_;
  VarintReader reader_;
};

// Visits records in pre-order: `enter(record)` going down, `leave()` when all children are done.
template <class Enter, class Leave>
Status walk(RecordReader& reader, Enter&& enter, Leave&& leave) {
  std::vector<uint64_t> children_left;
  do {
    VESTA_ASSIGN(const Record record, reader.next());
    VESTA_TRY(enter(record));
    children_left.push_back(record.children);
    while (!children_left.empty() && children_left.back() == 0) {
      leave();
      children_left.pop_back();
      if (!children_left.empty()) --children_left.back();
    }
  } while (!children_left.empty());
  return {};
}

Status nothing_after(const RecordReader& reader, std::string_view format) {
  if (reader.at_end()) return {};
  return parse_error(format, reader.offset(), "bytes after the last record");
}

}  // namespace

Result<ProfileBatch> read_lines(std::string_view bytes, const ReadOptions& options) {
  VESTA_TRY(check_input_size("lines", bytes, options.max_decoded_bytes));
  StackCollector stacks("lines", bytes, options);
  LineReader lines(bytes);
  std::string_view line;
  while (lines.next(line)) {
    if (!trim(line).empty()) VESTA_TRY(stacks.add_folded(line, 1));
  }
  return stacks.finish();
}

Result<ProfileBatch> read_trie(std::string_view bytes, const ReadOptions& options) {
  VESTA_TRY(check_input_size("trie", bytes, options.max_decoded_bytes));
  StackCollector stacks("trie", bytes, options);
  RecordReader reader("trie", bytes);
  std::string key;
  std::vector<size_t> lengths;
  // A key is read anew for each value: what all of them take together is bounded, too.
  const size_t max_text = (size_t{64} << 20) + 8 * bytes.size();
  size_t text_left = max_text;
  VESTA_TRY(walk(
      reader,
      [&](const Record& record) -> Status {
        lengths.push_back(record.name.size());
        key += record.name;
        if (record.value == 0) return {};
        if (key.size() > text_left) return limit_error("trie", "text of all stacks", max_text);
        text_left -= key.size();
        return stacks.add_folded(key, record.value);
      },
      [&] {
        key.resize(key.size() - lengths.back());
        lengths.pop_back();
      }));
  VESTA_TRY(nothing_after(reader, "trie"));
  return stacks.finish();
}

Result<ProfileBatch> read_tree(std::string_view bytes, const ReadOptions& options) {
  VESTA_TRY(check_input_size("tree", bytes, options.max_decoded_bytes));
  StackCollector stacks("tree", bytes, options);
  RecordReader reader("tree", bytes);
  std::vector<LocationId> path;
  VESTA_TRY(walk(
      reader,
      [&](const Record& record) -> Status {
        path.push_back(record.name.empty() ? LocationId() : stacks.frame(record.name));
        return record.value == 0 ? Status() : stacks.add(path, record.value);
      },
      [&] { path.pop_back(); }));
  VESTA_TRY(nothing_after(reader, "tree"));
  return stacks.finish();
}

}  // namespace vesta::pyroscope
