#include "formats/pprof/samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/pprof/fields.h"
#include "formats/protobuf/packed_varints.h"

namespace vesta::pprof {
namespace {

// Longer lists of locations take the slow way, which needs no room for the whole of them.
constexpr size_t kMaxFastBytes = 8192;
// After so many samples, the room for all stacks is estimated from the first ones.
constexpr size_t kSamplesToEstimate = 1024;
constexpr size_t kMaxFewItems = size_t{1} << 16;

}  // namespace

SampleDecoder::SampleDecoder(std::string_view file, const Outline& outline,
                             const ReadOptions& options, const IdMap& location_ids,
                             Dictionary& dictionary, Profile& profile)
    : file_(file),
      outline_(outline),
      options_(options),
      location_ids_(location_ids),
      dictionary_(dictionary),
      samples_(profile.samples),
      labels_(file, options, dictionary),
      type_count_(profile.sample_types.size()),
      locations_(kMaxFastBytes) {}

Status SampleDecoder::run() {
  const size_t count = outline_.sample_count;
  samples_.stacks.reserve(count);
  // Each value takes a byte of the samples at least, whatever the number of types claims.
  const size_t bytes = outline_.sample_bytes;
  samples_.values.reserve(count > bytes / type_count_ ? bytes : count * type_count_);
  // Files with few samples have room for their stacks at once.
  dictionary_.stacks.reserve(std::min(count, kSamplesToEstimate) + 1,
                             std::min(bytes, kMaxFewItems));
  const std::string_view region =
      file_.substr(outline_.samples_begin, outline_.samples_end - outline_.samples_begin);
  WireReader reader(region, file_.data());
  while (reader.next()) {
    if (!reader.is(profile::kSample, WireType::kBytes)) {
      reader.skip();
      continue;
    }
    const std::string_view message = reader.bytes();
    if (!decode(WireReader(message, file_.data()), message)) return std::move(error_);
    if (samples_.size() == kSamplesToEstimate) reserve_stack_items();
  }
  return {};
}

bool SampleDecoder::decode(WireReader reader, std::string_view message) {
  const size_t values_before = samples_.values.size();
  std::string_view ids;
  bool ids_are_plain = true;  // one packed field
  const char* labels_begin = nullptr;
  const char* labels_end = nullptr;
  bool labels_are_together = true;
  while (reader.next()) {
    const bool is_bytes = reader.type() == WireType::kBytes;
    if (!is_bytes && reader.type() != WireType::kVarint) {
      if (reader.field() <= sample::kLabel) {
        return fail(malformed(reader.offset(),
                              fmt::format("sample: field {} has wire type {}", reader.field(),
                                          static_cast<int>(reader.type()))));
      }
      reader.skip();
      continue;
    }
    switch (reader.field()) {
      case sample::kLocationId:
        ids_are_plain &= is_bytes && ids.data() == nullptr;
        if (is_bytes) {
          ids = reader.bytes();
        } else {
          reader.varint();
        }
        break;
      case sample::kValue:
        if (!is_bytes) {
          samples_.values.push_back(reader.int64());
        } else if (!decode_values(reader.bytes())) {
          return false;
        }
        break;
      case sample::kLabel: {
        if (!is_bytes) return fail(malformed(reader.offset(), "sample.label: has wire type 0"));
        const char* begin = file_.data() + reader.offset();
        labels_are_together &= labels_begin == nullptr || begin == labels_end;
        if (labels_begin == nullptr) labels_begin = begin;
        const std::string_view text = reader.bytes();
        labels_end = text.data() + text.size();
        break;
      }
      default:
        reader.skip();
    }
  }
  if (!reader.ok()) {
    return fail(malformed(reader.offset(), fmt::format("sample: {}", reader.problem()),
                          "the file is cut off or damaged: fetch it again"));
  }
  const auto offset = [&] { return static_cast<size_t>(message.data() - file_.data()); };
  if (samples_.values.size() - values_before != type_count_) {
    return fail(
        malformed(offset(), fmt::format("sample.value: {} values for {} sample types",
                                        samples_.values.size() - values_before, type_count_)));
  }

  StackId stack;
  if (!(ids_are_plain ? stack_of(ids, stack) : false) && !stack_slowly(message, stack))
    return false;
  LabelMeaning meaning;
  LabelSetId labels;
  if (labels_begin != nullptr) {
    const auto set = labels_.decode(
        labels_are_together
            ? std::string_view(labels_begin, static_cast<size_t>(labels_end - labels_begin))
            : message);
    if (!set) return fail(labels_.error());
    labels = *set;
    meaning = labels_.meaning(labels);
  }
  int64_t signs = 0;
  for (size_t i = values_before; i < samples_.values.size(); ++i) signs |= samples_.values[i];
  if (signs < 0 && !options_.allow_negative && !meaning.is_difference_base) ++negative_samples_;
  add_row(stack, labels, meaning);
  return true;
}

bool SampleDecoder::decode_values(std::string_view packed) {
  const char* at = packed.data();
  const char* const end = at + packed.size();
  const char* const readable_end = file_.data() + file_.size();
  while (at < end) {
    uint64_t value = 0;
    const char* const begin = at;
    at = read_packed_varint(at, end, readable_end, value);
    if (at == nullptr) {
      return fail(malformed(static_cast<size_t>(begin - file_.data()),
                            "sample.value: varint is cut off or longer than ten bytes"));
    }
    samples_.values.push_back(static_cast<int64_t>(value));
  }
  return true;
}

bool SampleDecoder::stack_of(std::string_view packed_ids, StackId& stack) {
  if (packed_ids.empty()) return true;
  if (packed_ids == last_ids_) {
    stack = last_stack_;
    return true;
  }
  // As many locations as bytes at most: the limit holds without counting.
  if (packed_ids.size() > std::min(kMaxFastBytes, options_.max_stack_depth)) return false;
  const auto ids = decode_small_varints(packed_ids.data(), packed_ids.data() + packed_ids.size(),
                                        file_.data() + file_.size(), locations_.data());
  if (!ids.ok) return false;
  if (!location_ids_.in_order()) {
    for (size_t i = 0; i < ids.count; ++i) {
      locations_[i] = LocationId(location_ids_.find(locations_[i].value));
      if (!locations_[i]) return false;
    }
  } else if (ids.largest_minus_one >= location_ids_.count()) {
    return false;
  }
  stack = dictionary_.stacks.add({locations_.data(), ids.count});
  last_ids_ = packed_ids;
  last_stack_ = stack;
  return true;
}

bool SampleDecoder::stack_slowly(std::string_view message, StackId& stack) {
  size_t depth = 0;
  const auto add = [&](uint64_t id, const char* at) {
    const LocationId location(location_ids_.find(id));
    if (!location) {
      return fail(malformed(static_cast<size_t>(at - file_.data()),
                            fmt::format("sample.location_id: no location has the id {}", id)));
    }
    if (depth++ < options_.max_stack_depth) dictionary_.stacks.push(location);
    return true;
  };
  WireReader reader(message, file_.data());
  while (reader.next()) {
    if (reader.is(sample::kLocationId, WireType::kVarint)) {
      if (!add(reader.varint(), file_.data() + reader.offset())) return false;
    } else if (reader.is(sample::kLocationId, WireType::kBytes)) {
      const std::string_view packed = reader.bytes();
      WireReader ids(packed, file_.data());
      while (!ids.at_end()) {
        const char* const at = packed.data() + (packed.size() - ids.remaining());
        const uint64_t id = ids.read_varint();
        if (!ids.ok()) {
          return fail(malformed(static_cast<size_t>(at - file_.data()),
                                fmt::format("sample.location_id: {}", ids.problem())));
        }
        if (!add(id, at)) return false;
      }
    } else {
      reader.skip();
    }
  }
  if (depth > options_.max_stack_depth) ++truncated_stacks_;
  if (!dictionary_.stacks.open_items().empty()) stack = dictionary_.stacks.close();
  return true;
}

void SampleDecoder::add_row(StackId stack, LabelSetId labels, const LabelMeaning& meaning) {
  const size_t rows = samples_.size();
  const auto add_optional = [&](auto& column, const auto& value, bool is_set) {
    if (column.empty()) {
      if (!is_set) return;
      column.reserve(outline_.sample_count);
      column.resize(rows);
    }
    column.push_back(value);
  };
  add_optional(samples_.labels, labels, static_cast<bool>(labels));
  add_optional(samples_.links, meaning.link, static_cast<bool>(meaning.link));
  add_optional(samples_.times_ns, meaning.time_ns, meaning.time_ns != 0);
  samples_.stacks.push_back(stack);
}

void SampleDecoder::reserve_stack_items() {
  // A tenth more than the first samples suggest; an item takes a byte of the samples at least.
  const auto expected = [this](uint64_t so_far, uint64_t most) {
    return std::min(so_far * outline_.sample_count / kSamplesToEstimate * 11 / 10, most);
  };
  const auto& stacks = dictionary_.stacks;
  dictionary_.stacks.reserve(expected(stacks.size(), outline_.sample_count),
                             expected(stacks.item_count(), outline_.sample_bytes));
}

bool SampleDecoder::fail(Error error) {
  error_ = std::move(error);
  return false;
}

}  // namespace vesta::pprof
