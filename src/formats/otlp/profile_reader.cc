#include "formats/otlp/profile_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "formats/common/losses.h"
#include "formats/common/read_options.h"
#include "formats/otlp/conventions.h"
#include "formats/protobuf/wire.h"
#include "profile/sample_table.h"

namespace vesta::otlp {

bool ProfileReader::read_type(WireReader message, SampleType& type) {
  type.type = type.unit = StringId(decoding_.zero.strings);
  while (message.next()) {
    if (message.field() == 1) {
      if (!decoding_.name_index(message, "type_strindex", type.type)) return false;
    } else if (message.field() == 2) {
      if (!decoding_.name_index(message, "unit_strindex", type.unit)) return false;
    } else {
      message.skip();
    }
  }
  type.temporality = temporality_of(decoding_.dictionary().string(type.type));
  return decoding_.well_formed(message);
}

bool ProfileReader::read(WireReader message, const std::vector<Label>& resource, Profile& profile) {
  SampleTable rows(1);
  SampleType& type = profile.sample_types.emplace_back();
  std::vector<Label> labels = resource;
  uint64_t cut_stacks = 0;
  negative_samples_ = 0;
  size_t sample = 0;
  while (message.next()) {
    const uint32_t field = message.field();
    bool ok = true;
    uint64_t value = 0;
    WireReader inner;
    switch (field) {
      case 1:
        ok = decoding_.message(message, "sample_type", inner) && read_type(inner, type);
        break;
      case 2: {
        const Decoding::Part part(decoding_, "samples", sample++);
        ok = decoding_.message(message, "", inner) && read_sample(inner, rows, cut_stacks);
        break;
      }
      case 3:
        ok = decoding_.nanoseconds(message, "time_unix_nano", true, profile.time_ns);
        break;
      case 4:
        ok = decoding_.nanoseconds(message, "duration_nano", false, profile.duration_ns);
        break;
      case 5:
        ok = decoding_.message(message, "period_type", inner) &&
             read_type(inner, profile.period_type);
        break;
      case 6:
        ok = decoding_.varint(message, "period", value);
        profile.period = static_cast<int64_t>(value);
        break;
      default:
        ok = read_renumbered(message, profile, labels);
    }
    if (!ok) return false;
  }
  if (!decoding_.well_formed(message)) return false;
  if (labels.size() > decoding_.options().max_labels_per_sample) {
    return decoding_.fail_limit("the number of attributes of one profile",
                                decoding_.options().max_labels_per_sample);
  }
  profile.samples = rows.finish();
  profile.resource = decoding_.intern_labels(labels);
  if (cut_stacks > 0)
    profile.add_loss(decoding_.dictionary().strings.intern(kLossStackTruncated), cut_stacks);
  // A message that Vesta wrote says it already: those samples are the same ones.
  const StringId negative = decoding_.dictionary().strings.intern(kLossNegative);
  if (negative_samples_ > 0 &&
      std::ranges::find(profile.losses, negative, &Loss::reason) == profile.losses.end()) {
    profile.add_loss(negative, negative_samples_);
  }
  return true;
}

bool ProfileReader::read_renumbered(WireReader& message, Profile& profile,
                                    std::vector<Label>& labels) {
  const uint32_t field = message.field();
  if (field == layout_.profile_attributes) {
    return decoding_.integers(message, "attribute_indices", [&](uint64_t value) {
      if (!decoding_.in_table(message, "attribute_indices", value, decoding_.sizes.attributes,
                              "attribute_table"))
        return false;
      const size_t entry = value == 0 ? decoding_.zero.attributes : value;
      if (entry != 0) apply_attribute(AttributeId(entry), profile, labels);
      return true;
    });
  }
  if (field == layout_.profile_id) {
    std::string_view id;
    if (!decoding_.bytes(message, "profile_id", id)) return false;
    if (id.empty() || id.size() == 16) {
      decoding_.profile_ids += id;
      return true;
    }
    return decoding_.fail(message.offset(), "profile_id",
                          fmt::format("{} bytes instead of 16 or none", id.size()));
  }
  if (field == layout_.profile_comments && field != 0) {
    return decoding_.integers(message, "comment_strindices", [&](uint64_t value) {
      if (!decoding_.in_table(message, "comment_strindices", value, decoding_.sizes.strings,
                              "string_table"))
        return false;
      profile.comments.emplace_back(value);
      return true;
    });
  }
  if (field == layout_.profile_dropped) {
    uint64_t count = 0;
    if (!decoding_.varint(message, "dropped_attributes_count", count)) return false;
    if (count > 0)
      profile.add_loss(decoding_.dictionary().strings.intern(kLossAttributesDropped), count);
    return true;
  }
  std::string_view payload;
  if (field == layout_.profile_payload_format)
    return decoding_.bytes(message, "original_payload_format", payload);
  if (field == layout_.profile_payload) {
    if (!decoding_.bytes(message, "original_payload", payload)) return false;
    decoding_.original_payloads += payload.empty() ? 0 : 1;
    return true;
  }
  message.skip();
  return true;
}

void ProfileReader::apply_attribute(AttributeId id, Profile& profile, std::vector<Label>& labels) {
  const AttributeTable& attributes = extras_.attributes;
  switch (attributes.meaning(id)) {
    case Meaning::kComment:
      for (const Label& label : attributes.labels(id)) profile.comments.push_back(label.text);
      return;
    case Meaning::kDocUrl:
      profile.doc_url = attributes.text(id);
      return;
    case Meaning::kDropFrames:
      profile.drop_frames = attributes.text(id);
      return;
    case Meaning::kKeepFrames:
      profile.keep_frames = attributes.text(id);
      return;
    case Meaning::kProfileName:
      profile.name = attributes.text(id);
      return;
    case Meaning::kLoss: {
      const Label& label = attributes.labels(id).front();
      if (label.kind != LabelKind::kNumber || label.number < 0) break;
      const std::string reason(
          decoding_.dictionary().string(label.key).substr(key::kLossPrefix.size()));
      profile.add_loss(decoding_.dictionary().strings.intern(reason),
                       static_cast<uint64_t>(label.number));
      return;
    }
    default:
      break;
  }
  const auto more = attributes.labels(id);
  labels.insert(labels.end(), more.begin(), more.end());
}

bool ProfileReader::read_sample(WireReader message, SampleTable& rows, uint64_t& cut_stacks) {
  StackId stack(decoding_.zero.stacks);
  LinkId link;
  labels_.clear();
  values_.clear();
  times_ns_.clear();
  const size_t start = message.offset();
  while (message.next()) {
    const uint32_t field = message.field();
    bool ok = true;
    if (field == 1) {
      ok = decoding_.index(message, "stack_index", decoding_.sizes.stacks, "stack_table", stack,
                           decoding_.zero.stacks);
    } else if (field == layout_.sample_values) {
      ok = decoding_.integers(message, "values", [&](uint64_t value) {
        values_.push_back(static_cast<int64_t>(value));
        return true;
      });
    } else if (field == layout_.sample_attributes) {
      ok = decoding_.integers(message, "attribute_indices", [&](uint64_t value) {
        if (!decoding_.in_table(message, "attribute_indices", value, decoding_.sizes.attributes,
                                "attribute_table"))
          return false;
        const auto more =
            extras_.attributes.labels(AttributeId(value == 0 ? decoding_.zero.attributes : value));
        labels_.insert(labels_.end(), more.begin(), more.end());
        if (labels_.size() <= decoding_.options().max_labels_per_sample) return true;
        return decoding_.fail_limit("the number of attributes of one sample",
                                    decoding_.options().max_labels_per_sample);
      });
    } else if (field == layout_.sample_link) {
      ok = decoding_.index(message, "link_index", decoding_.sizes.links, "link_table", link);
    } else if (field == 5) {
      ok = read_times(message);
    } else {
      message.skip();
    }
    if (!ok) return false;
  }
  if (!decoding_.well_formed(message)) return false;
  if (stack.index() < extras_.cut_stacks.size() && extras_.cut_stacks[stack.index()]) ++cut_stacks;
  const bool is_negative = std::ranges::any_of(values_, [](int64_t value) { return value < 0; });
  if (is_negative && !decoding_.options().allow_negative) ++negative_samples_;
  return add_rows(start, stack, link, rows);
}

bool ProfileReader::read_times(WireReader& message) {
  const auto add = [&](uint64_t time) {
    if (time > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return decoding_.fail(message.offset(), "timestamps_unix_nano",
                            fmt::format("{} ns is out of range", time),
                            "times are nanoseconds since 1970, up to the year 2262");
    }
    times_ns_.push_back(static_cast<int64_t>(time));
    return true;
  };
  uint64_t time = 0;
  if (message.type() == WireType::kFixed64) {
    return decoding_.fixed64(message, "timestamps_unix_nano", time) && add(time);
  }
  std::string_view packed;
  if (!decoding_.bytes(message, "timestamps_unix_nano", packed)) return false;
  if (packed.size() % 8 != 0) {
    return decoding_.fail(message.offset(), "timestamps_unix_nano",
                          fmt::format("{} bytes, not a multiple of 8", packed.size()));
  }
  WireReader list(packed);
  while (!list.at_end()) {
    if (!add(list.fixed64())) return false;
  }
  return true;
}

bool ProfileReader::add_rows(size_t offset, StackId stack, LinkId link, SampleTable& rows) {
  const ReadOptions& options = decoding_.options();
  if (values_.empty() && times_ns_.empty()) {
    return decoding_.fail(offset, "", "a sample with neither values nor timestamps",
                          "a sample needs one value, or timestamps, or an equal number of both");
  }
  if (!values_.empty() && values_.size() != (times_ns_.empty() ? 1 : times_ns_.size())) {
    return decoding_.fail(
        offset, "", fmt::format("{} values with {} timestamps", values_.size(), times_ns_.size()),
        "a sample needs one value, or timestamps, or an equal number of both");
  }
  const bool keep_times = options.keep_timestamps && !times_ns_.empty();
  rows_read_ += keep_times ? times_ns_.size() : 1;
  if (rows_read_ > options.max_samples)
    return decoding_.fail_limit("the number of samples", options.max_samples);
  const LabelSetId labels = decoding_.intern_labels(labels_);
  if (decoding_.dictionary().label_sets.item_count() > max_label_items_)
    return decoding_.fail_limit("the number of labels", max_label_items_);
  if (keep_times) {
    for (size_t i = 0; i < times_ns_.size(); ++i) {
      rows.add(stack, values_.empty() ? 1 : values_[i], labels, link, times_ns_[i]);
    }
    return true;
  }
  int64_t sum = values_.empty() ? static_cast<int64_t>(times_ns_.size()) : 0;
  for (const int64_t value : values_) sum = saturating_add(sum, value);
  rows.add(stack, sum, labels, link);
  return true;
}

}  // namespace vesta::otlp
