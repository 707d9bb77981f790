#include "formats/otlp/release_1_7.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/table_hash.h"
#include "formats/common/parse_error.h"
#include "formats/common/stack_budget.h"
#include "formats/otlp/conventions.h"
#include "formats/otlp/layout.h"
#include "formats/protobuf/wire.h"

namespace vesta::otlp {
namespace {

constexpr std::string_view kFormat = "OTLP 1.7";

// Field numbers of 1.7; those of tables and of Line, Function and Link are the same in all
// releases.
namespace profile_1_7 {
enum : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kLocationIndices = 3,
  kTime = 4,
  kDuration = 5,
  kPeriodType = 6,
  kPeriod = 7,
  kComments = 8,
  kDefaultSampleType = 9,
  kProfileId = 10,
  kDropped = 11,
  kPayloadFormat = 12,
  kPayload = 13,
  kAttributes = 14,
};
}
namespace sample_1_7 {
enum : uint32_t { kStart = 1, kLength = 2, kValues = 3, kAttributes = 4, kLink = 5, kTimes = 6 };
}

// The fields that all samples of a profile share, in the numbers of today.
struct ProfileParts {
  std::vector<std::string_view> sample_types;
  std::vector<WireReader> samples;
  std::vector<uint64_t> locations;
  uint64_t default_type = 0;  // a string
  WireWriter fields;          // all but types and samples
};

struct SampleParts {
  uint64_t start = 0;
  uint64_t length = 0;
  std::vector<uint64_t> values;
  std::vector<uint64_t> attributes;
  std::vector<uint64_t> times;
  std::optional<uint64_t> link;
};

constexpr auto kShifted = [](uint64_t index) { return index + 1; };

class Rewriter {
 public:
  explicit Rewriter(std::string_view message)
      : message_(message), frames_left_(stack_frame_budget(message.size())) {}

  Result<std::string> run() {
    WireReader top(message_);
    while (top.next()) {
      if (top.is(2, WireType::kBytes)) {
        dictionary_ = top.message();
      } else {
        top.skip();
      }
    }
    VESTA_TRY(check(top, "message"));
    VESTA_TRY(collect_strings());
    for (top = WireReader(message_); top.next();) {
      if (top.is(1, WireType::kBytes)) {
        VESTA_TRY(rewrite_resource(top.message()));
      } else {
        top.skip();
      }
    }
    VESTA_TRY(check(top, "message"));
    WireWriter dictionary;
    VESTA_TRY(rewrite_dictionary(dictionary));
    out_.message(2, dictionary);
    return out_.take();
  }

 private:
  static Status check(const WireReader& reader, std::string_view where) {
    if (reader.ok()) return {};
    return parse_error(kFormat, reader.offset(), fmt::format("{}: {}", where, reader.problem()),
                       "the file is damaged or cut off");
  }

  // Packed or not.
  static void take_integers(WireReader& reader, std::vector<uint64_t>& out) {
    if (reader.type() == WireType::kVarint) {
      out.push_back(reader.varint());
    } else if (reader.type() == WireType::kBytes) {
      WireReader list = reader.message();
      while (!list.at_end()) out.push_back(list.read_varint());
    } else {
      reader.skip();
    }
  }

  static uint64_t take_number(WireReader& reader) {
    if (reader.type() == WireType::kVarint) return reader.varint();
    reader.skip();
    return 0;
  }

  static std::string_view take_bytes(WireReader& reader) {
    if (reader.type() == WireType::kBytes) return reader.bytes();
    reader.skip();
    return {};
  }

  Status collect_strings() {
    WireReader tables = dictionary_;
    while (tables.next()) {
      if (tables.is(5, WireType::kBytes)) {
        strings_.push_back(tables.bytes());
      } else if (tables.is(7, WireType::kBytes)) {
        VESTA_TRY(collect_unit(tables.message()));
      } else if (tables.is(1, WireType::kBytes)) {
        mapping_is_empty_.push_back(is_empty(tables.message()));
      } else {
        tables.skip();
      }
    }
    if (strings_.empty()) strings_.emplace_back();
    return check(tables, "dictionary");
  }

  Status collect_unit(WireReader entry) {
    uint64_t key = 0;
    uint64_t unit = 0;
    while (entry.next()) {
      if (entry.field() == 1) {
        key = take_number(entry);
      } else if (entry.field() == 2) {
        unit = take_number(entry);
      } else {
        entry.skip();
      }
    }
    if (key < strings_.size()) unit_of_key_.emplace(strings_[key], unit);
    return check(entry, "dictionary.attribute_units");
  }

  // Nothing is known of such a mapping: as if there were none.
  static bool is_empty(WireReader entry) {
    while (entry.next()) {
      if (entry.type() != WireType::kVarint || entry.varint() != 0) return false;
    }
    return entry.ok();
  }

  Status rewrite_dictionary(WireWriter& out) {
    for (const uint32_t table : {1u, 2u, 3u, 4u, 6u, 7u}) out.always_bytes(table, "");
    WireReader tables = dictionary_;
    while (tables.next()) {
      const uint32_t table = tables.field();
      if (tables.type() != WireType::kBytes || table > 6) {
        tables.skip();
        continue;
      }
      WireReader entry = tables.message();
      WireWriter rewritten;
      if (table == 1) {
        VESTA_TRY(rewrite_mapping(entry, rewritten));
      } else if (table == 2) {
        VESTA_TRY(rewrite_location(entry, rewritten));
      } else if (table == 6) {
        VESTA_TRY(rewrite_attribute(entry, rewritten));
      } else if (table == 3 || table == 4) {
        out.always_bytes(table, text_of(entry));
        continue;
      } else {
        continue;  // strings
      }
      out.message(table, rewritten);
    }
    VESTA_TRY(check(tables, "dictionary"));
    out.append(stacks_);
    for (const std::string_view text : strings_) out.always_bytes(5, text);
    return {};
  }

  std::string_view text_of(const WireReader& reader) const {
    return message_.substr(reader.offset(), reader.remaining());
  }

  Status rewrite_mapping(WireReader entry, WireWriter& out) {
    std::vector<uint64_t> attributes;
    while (entry.next()) {
      if (entry.field() <= 4) {
        const uint32_t field = entry.field();
        out.uint64(field, take_number(entry));
      } else if (entry.field() == 5) {
        take_integers(entry, attributes);
      } else {
        entry.skip();
      }
    }
    out.packed(5, attributes, kShifted);
    return check(entry, "dictionary.mapping_table");
  }

  Status rewrite_location(WireReader entry, WireWriter& out) {
    std::vector<uint64_t> attributes;
    while (entry.next()) {
      if (entry.field() == 1) {
        const uint64_t mapping = take_number(entry);
        if (mapping >= mapping_is_empty_.size() || !mapping_is_empty_[mapping])
          out.uint64(1, kShifted(mapping));
      } else if (entry.field() == 2) {
        out.uint64(2, take_number(entry));
      } else if (entry.is(3, WireType::kBytes)) {
        WireWriter line;
        VESTA_TRY(rewrite_line(entry.message(), line));
        out.message(3, line);
      } else if (entry.field() == 5) {
        take_integers(entry, attributes);
      } else {
        entry.skip();
      }
    }
    out.packed(4, attributes, kShifted);
    return check(entry, "dictionary.location_table");
  }

  static Status rewrite_line(WireReader line, WireWriter& out) {
    uint64_t function = 0;
    while (line.next()) {
      const uint32_t field = line.field();
      if (field == 1) {
        function = take_number(line);
      } else if (field <= 3) {
        out.uint64(field, take_number(line));
      } else {
        line.skip();
      }
    }
    out.uint64(1, kShifted(function));
    return check(line, "dictionary.location_table.line");
  }

  // KeyValue{1 key, 2 value} becomes {1 index of the key, 2 value, 3 index of the unit}.
  Status rewrite_attribute(WireReader entry, WireWriter& out) {
    std::string_view key;
    while (entry.next()) {
      if (entry.is(1, WireType::kBytes)) {
        key = entry.bytes();
      } else if (entry.is(2, WireType::kBytes)) {
        out.always_bytes(2, entry.bytes());
      } else {
        entry.skip();
      }
    }
    out.uint64(1, strings_.size());
    strings_.push_back(key);
    const auto unit = unit_of_key_.find(key);
    if (unit != unit_of_key_.end()) out.uint64(3, unit->second);
    return check(entry, "dictionary.attribute_table");
  }

  Status rewrite_resource(WireReader resource) {
    WireWriter out;
    while (resource.next()) {
      if (resource.is(2, WireType::kBytes)) {
        VESTA_TRY(rewrite_scope(resource.message(), out));
      } else {
        copy(resource, out);
      }
    }
    VESTA_TRY(check(resource, "resource_profiles"));
    out_.message(1, out);
    return {};
  }

  // Resource, scope and the URLs of schemas are as they are today.
  static void copy(WireReader& reader, WireWriter& out) {
    const uint32_t field = reader.field();
    if (reader.type() == WireType::kBytes) {
      out.always_bytes(field, reader.bytes());
    } else {
      reader.skip();
    }
  }

  // Types of one profile are told from those of the next by a scope of their own.
  Status rewrite_scope(WireReader scope_profiles, WireWriter& out) {
    WireWriter scope;
    WireWriter others;
    std::vector<WireReader> profiles;
    while (scope_profiles.next()) {
      if (scope_profiles.is(1, WireType::kBytes)) {
        scope.clear();
        WireReader fields = scope_profiles.message();
        while (fields.next()) copy(fields, scope);
        VESTA_TRY(check(fields, "scope"));
      } else if (scope_profiles.is(2, WireType::kBytes)) {
        profiles.push_back(scope_profiles.message());
      } else {
        copy(scope_profiles, others);
      }
    }
    VESTA_TRY(check(scope_profiles, "scope_profiles"));
    for (const WireReader& profile : profiles) {
      ProfileParts parts;
      VESTA_TRY(collect_profile(profile, parts));
      WireWriter own_scope = scope;
      if (parts.sample_types.size() > 1) describe_types(parts, own_scope);
      WireWriter rewritten;
      if (!own_scope.view().empty()) rewritten.message(1, own_scope);
      VESTA_TRY(rewrite_profile(parts, rewritten));
      rewritten.append(others);
      out.message(2, rewritten);
    }
    return {};
  }

  Status collect_profile(WireReader profile, ProfileParts& parts) {
    namespace field = profile_1_7;
    WireWriter& out = parts.fields;
    std::vector<uint64_t> comments;
    std::vector<uint64_t> attributes;
    while (profile.next()) {
      switch (profile.field()) {
        case field::kSampleType:
          parts.sample_types.push_back(take_bytes(profile));
          break;
        case field::kSample:
          if (profile.type() == WireType::kBytes) {
            parts.samples.push_back(profile.message());
          } else {
            profile.skip();
          }
          break;
        case field::kLocationIndices:
          take_integers(profile, parts.locations);
          break;
        case field::kTime:
          out.fixed64(3, take_number(profile));
          break;
        case field::kDuration:
          out.uint64(4, take_number(profile));
          break;
        case field::kPeriodType:
          out.bytes(5, take_bytes(profile));
          break;
        case field::kPeriod:
          out.uint64(6, take_number(profile));
          break;
        case field::kComments:
          take_integers(profile, comments);
          break;
        case field::kDefaultSampleType:
          parts.default_type = take_number(profile);
          break;
        case field::kProfileId:
          out.bytes(kLayoutJson.profile_id, take_bytes(profile));
          break;
        case field::kDropped:
          out.uint64(kLayoutJson.profile_dropped, take_number(profile));
          break;
        case field::kPayloadFormat:
          out.bytes(kLayoutJson.profile_payload_format, take_bytes(profile));
          break;
        case field::kPayload:
          out.bytes(kLayoutJson.profile_payload, take_bytes(profile));
          break;
        case field::kAttributes:
          take_integers(profile, attributes);
          break;
        default:
          profile.skip();
      }
    }
    out.packed(kLayoutJson.profile_comments, comments);
    out.packed(kLayoutJson.profile_attributes, attributes, kShifted);
    VESTA_TRY(check(profile, "profile"));
    if (parts.sample_types.size() <= kMaxJoinedTypes) return {};
    return limit_error(kFormat, "the number of sample types of one profile", kMaxJoinedTypes);
  }

  // As for profiles that were one pprof: join.h puts them together again.
  void describe_types(const ProfileParts& parts, WireWriter& scope) const {
    WireWriter positions;
    for (size_t i = 0; i < parts.sample_types.size(); ++i) {
      WireWriter position;
      position.always_uint64(3, i);
      positions.message(1, position);
    }
    WireWriter array;
    array.message(5, positions);
    WireWriter order;
    order.bytes(1, key::kSampleTypeOrder);
    order.message(2, array);
    scope.message(3, order);
    if (parts.default_type == 0 || parts.default_type >= strings_.size()) return;
    WireWriter text;
    text.bytes(1, strings_[parts.default_type]);
    WireWriter default_type;
    default_type.bytes(1, key::kDefaultSampleType);
    default_type.message(2, text);
    scope.message(3, default_type);
  }

  Status rewrite_profile(const ProfileParts& parts, WireWriter& scope_profiles) {
    std::vector<WireWriter> profiles(std::max<size_t>(1, parts.sample_types.size()));
    for (size_t type = 0; type < parts.sample_types.size(); ++type)
      profiles[type].bytes(1, parts.sample_types[type]);
    stack_of_range_.clear();
    SampleParts sample;
    for (const WireReader& reader : parts.samples) {
      VESTA_TRY(collect_sample(reader, sample));
      if (sample.values.size() != profiles.size() &&
          !(sample.values.empty() && !sample.times.empty())) {
        return parse_error(kFormat, reader.offset(),
                           fmt::format("sample.value: {} values for {} sample types",
                                       sample.values.size(), profiles.size()),
                           "the file is damaged");
      }
      VESTA_ASSIGN(const uint64_t stack, stack_of(reader.offset(), sample, parts.locations));
      for (size_t type = 0; type < profiles.size(); ++type)
        profiles[type].message(2, rewritten_sample(sample, stack, type));
    }
    for (WireWriter& profile : profiles) {
      profile.append(parts.fields);
      scope_profiles.message(2, profile);
    }
    return {};
  }

  static Status collect_sample(WireReader reader, SampleParts& sample) {
    namespace field = sample_1_7;
    sample = {};
    while (reader.next()) {
      switch (reader.field()) {
        case field::kStart:
          sample.start = take_number(reader);
          break;
        case field::kLength:
          sample.length = take_number(reader);
          break;
        case field::kValues:
          take_integers(reader, sample.values);
          break;
        case field::kAttributes:
          take_integers(reader, sample.attributes);
          break;
        case field::kLink:
          sample.link = take_number(reader);
          break;
        case field::kTimes:
          take_integers(reader, sample.times);
          break;
        default:
          reader.skip();
      }
    }
    return check(reader, "sample");
  }

  Result<uint64_t> stack_of(size_t offset, const SampleParts& sample,
                            const std::vector<uint64_t>& locations) {
    if (sample.length == 0) return uint64_t{0};
    if (sample.start > locations.size() || sample.length > locations.size() - sample.start) {
      return parse_error(kFormat, offset,
                         fmt::format("sample: locations {} to {} of a list of {}", sample.start,
                                     sample.start + sample.length, locations.size()),
                         "the file is damaged");
    }
    const auto [known, is_new] =
        stack_of_range_.try_emplace(sample.start << 32 | sample.length, stack_count_);
    if (!is_new) return known->second;
    if (sample.length > frames_left_)
      return limit_error(kFormat, "the number of frames", stack_frame_budget(message_.size()));
    frames_left_ -= sample.length;
    const std::span range(locations.data() + sample.start, sample.length);
    WireWriter stack;
    stack.packed(1, range, kShifted);
    stacks_.message(7, stack);
    return stack_count_++;
  }

  static WireWriter rewritten_sample(const SampleParts& sample, uint64_t stack, size_t type) {
    WireWriter out;
    out.uint64(1, stack);
    out.packed(kLayoutJson.sample_attributes, sample.attributes, kShifted);
    if (sample.link) out.uint64(kLayoutJson.sample_link, kShifted(*sample.link));
    // Today there are as many values as times, or times alone that count one each. A value that is
    // the sum of many events cannot be taken apart.
    const bool counts_times = sample.values.empty() || sample.values[type] == sample.times.size();
    if (!sample.times.empty() && (counts_times || sample.times.size() == 1))
      out.packed_fixed64(5, sample.times);
    if (!sample.values.empty() && (sample.times.size() < 2 || !counts_times)) {
      const std::span value(&sample.values[type], 1);
      out.packed(kLayoutJson.sample_values, value);
    }
    return out;
  }

  std::string_view message_;
  WireReader dictionary_;
  std::vector<std::string_view> strings_;
  std::unordered_map<std::string_view, uint64_t, TableKeyHash> unit_of_key_;
  std::vector<bool> mapping_is_empty_;
  std::unordered_map<uint64_t, uint64_t, TableKeyHash> stack_of_range_;  // of the current profile
  uint64_t stack_count_ = 1;
  size_t frames_left_;
  WireWriter stacks_;
  WireWriter out_;
};

}  // namespace

Result<std::string> from_release_1_7(std::string_view message) {
  return Rewriter(message).run();
}

}  // namespace vesta::otlp
