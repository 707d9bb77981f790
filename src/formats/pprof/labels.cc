#include "formats/pprof/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>

#include "base/hash.h"
#include "base/hex.h"
#include "base/table_hash.h"
#include "formats/common/parse_error.h"
#include "formats/pprof/fields.h"
#include "formats/pprof/outline.h"
#include "formats/protobuf/wire.h"

namespace vesta::pprof {
namespace {

constexpr size_t kRecentSets = 4096;  // a power of two

auto label_order(const Label& l) {
  return std::tuple(l.key, l.kind, l.text, l.number, l.unit);
}

}  // namespace

LabelDecoder::LabelDecoder(std::string_view file, const ReadOptions& options,
                           Dictionary& dictionary)
    : file_(file),
      options_(options),
      dictionary_(dictionary),
      string_count_(dictionary.strings.size()) {}

std::optional<LabelSetId> LabelDecoder::decode(std::string_view fields) {
  if (recent_.empty()) recent_.resize(kRecentSets);
  const uint64_t hash = hash64(fields);
  Recent& recent = recent_[hash % kRecentSets];
  if (recent.size == fields.size() && std::memcmp(recent.begin, fields.data(), fields.size()) == 0)
    return recent.set;

  if (!decode_labels(fields)) return std::nullopt;
  std::ranges::sort(labels_, {}, label_order);
  // The same label twice says nothing more.
  labels_.erase(std::unique(labels_.begin(), labels_.end()), labels_.end());
  const std::span<const Label> labels(labels_);
  auto& sets = dictionary_.label_sets;
  const size_t sets_before = sets.size();
  const LabelSetId set(set_index_.find_or_insert(
      table_hash_of(labels),
      [&](uint32_t at) { return std::ranges::equal(sets[LabelSetId(at)], labels); },
      [&] { return sets.add(labels).value; }));
  if (sets.size() > sets_before) note_meaning(set);
  recent = {fields.data(), static_cast<uint32_t>(fields.size()), set};
  return set;
}

bool LabelDecoder::decode_labels(std::string_view fields) {
  labels_.clear();
  WireReader reader(fields, file_.data());
  while (reader.next()) {
    if (!reader.is(sample::kLabel, WireType::kBytes)) {
      reader.skip();
      continue;
    }
    if (labels_.size() == options_.max_labels_per_sample) {
      return fail(
          limit_error("pprof", "number of labels of a sample", options_.max_labels_per_sample));
    }
    const size_t offset = reader.offset();
    if (!decode_label(reader.bytes(), offset)) return false;
  }
  return true;  // the caller has walked over these fields before
}

bool LabelDecoder::decode_label(std::string_view message, size_t offset) {
  uint64_t key = 0;
  uint64_t text = 0;
  uint64_t unit = 0;
  int64_t number = 0;
  WireReader reader(message, file_.data());
  while (reader.next()) {
    if (reader.type() != WireType::kVarint) {
      if (reader.field() <= label::kNumUnit) {
        return fail(malformed(reader.offset(),
                              fmt::format("label: field {} has wire type {}", reader.field(),
                                          static_cast<int>(reader.type()))));
      }
      reader.skip();
      continue;
    }
    const uint64_t value = reader.varint();
    switch (reader.field()) {
      case label::kKey:
        key = value;
        break;
      case label::kStr:
        text = value;
        break;
      case label::kNum:
        number = static_cast<int64_t>(value);
        break;
      case label::kNumUnit:
        unit = value;
        break;
      default:
        break;
    }
  }
  if (!reader.ok())
    return fail(malformed(reader.offset(), fmt::format("label: {}", reader.problem())));
  for (const auto& [name, index] :
       {std::pair("key", key), std::pair("str", text), std::pair("num_unit", unit)}) {
    if (index >= string_count_) {
      return fail(malformed(
          offset, fmt::format("label.{}: string {} of a table of {}", name, index, string_count_)));
    }
  }
  Label& entry = labels_.emplace_back();
  entry.key = StringId(key);
  if (text != 0) {
    entry.text = StringId(text);
  } else {
    entry.kind = LabelKind::kNumber;
    entry.number = number;
    entry.unit = StringId(unit);
  }
  return true;
}

void LabelDecoder::note_meaning(LabelSetId set) {
  LabelMeaning meaning;
  Link link;
  for (const Label& entry : labels_) {
    const std::string_view key = dictionary_.string(entry.key);
    if (entry.kind == LabelKind::kString) {
      const std::string_view text = dictionary_.string(entry.text);
      if (key == kTraceIdLabel) parse_hex(text, link.trace_id);
      if (key == kSpanIdLabel) parse_hex(text, link.span_id);
      if (key == kDifferenceBaseLabel && text == "true") meaning.is_difference_base = true;
    } else if (options_.keep_timestamps &&
               (key == kTimestampLabel || (key == kEndTimestampLabel && meaning.time_ns == 0))) {
      meaning.time_ns = entry.number;
    }
  }
  if (link != Link()) meaning.link = intern_link(link);
  if (!meaning.link && !meaning.is_difference_base && meaning.time_ns == 0) return;
  meanings_.resize(set.index() + 1);
  meanings_.back() = meaning;
}

LinkId LabelDecoder::intern_link(const Link& link) {
  auto& links = dictionary_.links;
  return LinkId(link_index_.find_or_insert(
      table_hash(&link, sizeof(link)), [&](uint32_t at) { return links[at] == link; },
      [&] {
        links.push_back(link);
        return static_cast<uint32_t>(links.size() - 1);
      }));
}

bool LabelDecoder::fail(Error error) {
  error_ = std::move(error);
  return false;
}

}  // namespace vesta::pprof
