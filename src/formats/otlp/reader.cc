#include "formats/otlp/reader.h"

#include <fmt/format.h>

#include "formats/common/parse_error.h"
#include "formats/otlp/conventions.h"
#include "formats/otlp/join.h"
#include "formats/otlp/profile_reader.h"
#include "formats/otlp/release_1_7.h"
#include "formats/protobuf/wire.h"

namespace vesta {
namespace otlp {
namespace {

// The scope of some profiles: labels for them, and whether they were one pprof.
struct Scope {
  std::vector<Label> labels;
  std::vector<int64_t> sample_type_order;
  std::string default_sample_type;
};

class MessageReader {
 public:
  // Without an outcome, one bad profile is an error of the whole. Without a layout, the shape of
  // the message tells it.
  MessageReader(std::string_view bytes, const ReadOptions& options, bool from_json,
                OtlpOutcome* outcome, const Layout* layout)
      : bytes_(bytes),
        decoding_(options, batch_.dictionary, from_json),
        outcome_(outcome),
        layout_(layout) {}

  // Why read() failed, if it did: the error says nothing then.
  bool is_release_1_7() const { return is_release_1_7_; }

  Result<ProfileBatch> read() {
    if (!read_all() || decoding_.failed()) return decoding_.take_error();
    count_losses();
    if (outcome_ != nullptr) {
      outcome_->original_payloads = decoding_.original_payloads;
      outcome_->profile_ids = std::move(decoding_.profile_ids);
    }
    return std::move(batch_);
  }

 private:
  bool read_all() {
    WireReader dictionary;
    if (!find_dictionary(dictionary) || !count_tables(decoding_, dictionary, decoding_.sizes))
      return false;
    Layout layout = layout_ == nullptr ? Layout() : *layout_;
    if (layout_ == nullptr && !find_layout(decoding_, bytes_, layout, is_release_1_7_))
      return false;
    DictionaryExtras extras;
    if (!read_dictionary(decoding_, dictionary, extras)) return false;
    ProfileReader profiles(decoding_, extras, layout, bytes_.size() + 1'000'000);
    WireReader top(bytes_);
    size_t resource = 0;
    while (top.next()) {
      if (top.field() != 1) {
        top.skip();
        continue;
      }
      const Decoding::Part part(decoding_, "resource_profiles", resource++);
      WireReader message;
      if (!decoding_.message(top, "", message) || !read_resource_profiles(message, profiles))
        return false;
    }
    return decoding_.well_formed(top);
  }

  bool find_dictionary(WireReader& dictionary) {
    WireReader top(bytes_);
    size_t found = 0;
    size_t second = 0;
    while (top.next()) {
      if (top.field() > 2 && top.field() <= 8 && top.type() == WireType::kBytes)
        return refuse_old_release(decoding_, top, "1.6");
      if (top.field() != 2) {
        top.skip();
      } else if (++found == 2) {
        second = top.offset();
        top.skip();
      } else if (!decoding_.message(top, "dictionary", dictionary)) {
        return false;
      }
    }
    if (!decoding_.well_formed(top)) return false;
    if (found < 2) return true;
    // Protobuf would merge them, and every index into the second one would be off.
    return decoding_.fail(second, "dictionary", "a second dictionary",
                          "split the file into one message per file");
  }

  bool read_resource_profiles(WireReader message, ProfileReader& profiles) {
    std::vector<Label> labels;
    for (WireReader fields = message; fields.next();) {
      WireReader resource;
      if (fields.field() != 1) {
        fields.skip();
      } else if (!decoding_.message(fields, "resource", resource) ||
                 !read_resource(resource, labels)) {
        return false;
      }
    }
    size_t scope = 0;
    while (message.next()) {
      if (message.field() != 2) {
        message.skip();
        continue;
      }
      const Decoding::Part part(decoding_, "scope_profiles", scope++);
      WireReader inner;
      if (!decoding_.message(message, "", inner) || !read_scope_profiles(inner, labels, profiles))
        return false;
    }
    return decoding_.well_formed(message);
  }

  bool read_resource(WireReader message, std::vector<Label>& labels) {
    const Decoding::Part part(decoding_, "resource");
    while (message.next()) {
      WireReader attribute;
      if (message.field() != 1) {
        message.skip();
      } else {
        KeyValue pair;
        if (!decoding_.message(message, "attributes", attribute) ||
            !read_key_value(decoding_, attribute, pair) || !add_label(pair, labels))
          return false;
      }
    }
    return decoding_.well_formed(message);
  }

  bool add_label(const KeyValue& pair, std::vector<Label>& labels) {
    Label label;
    if (!value_label(decoding_, pair.key, StringId(), pair.value, label)) return false;
    labels.push_back(label);
    if (labels.size() <= decoding_.options().max_labels_per_sample) return true;
    return decoding_.fail_limit("the number of attributes of one resource",
                                decoding_.options().max_labels_per_sample);
  }

  bool read_scope(WireReader message, Scope& scope) {
    const Decoding::Part part(decoding_, "scope");
    while (message.next()) {
      std::string_view text;
      WireReader attribute;
      bool ok = true;
      switch (message.field()) {
        case 1:
          ok = decoding_.bytes(message, "name", text);
          if (!text.empty()) add_text(key::kScopeName, text, scope.labels);
          break;
        case 2:
          ok = decoding_.bytes(message, "version", text);
          if (!text.empty()) add_text(key::kScopeVersion, text, scope.labels);
          break;
        case 3:
          ok = decoding_.message(message, "attributes", attribute) &&
               read_scope_attribute(attribute, scope);
          break;
        default:
          message.skip();
      }
      if (!ok) return false;
    }
    return decoding_.well_formed(message);
  }

  void add_text(std::string_view name, std::string_view text, std::vector<Label>& labels) {
    Label label;
    label.key = decoding_.intern(name);
    label.text = decoding_.intern(text);
    labels.push_back(label);
  }

  bool read_scope_attribute(WireReader message, Scope& scope) {
    KeyValue pair;
    if (!read_key_value(decoding_, message, pair)) return false;
    const std::string name(decoding_.dictionary().string(pair.key));
    if (name == key::kDefaultSampleType)
      return value_text(decoding_, pair.value, scope.default_sample_type);
    if (name == key::kSampleTypeOrder && pair.value.kind == ValueKind::kArray)
      return read_order(pair.value.items, scope.sample_type_order);
    pair.key = decoding_.intern(std::string(key::kScopeAttributePrefix) + name);
    return add_label(pair, scope.labels);
  }

  bool read_order(WireReader items, std::vector<int64_t>& order) {
    while (items.next()) {
      Value value;
      WireReader item;
      if (items.field() != 1) {
        items.skip();
        continue;
      }
      if (!decoding_.message(items, "values", item) || !read_value(decoding_, item, value))
        return false;
      // What is no integer is no position; -1 keeps the profiles apart.
      order.push_back(value.kind == ValueKind::kInt ? value.number : -1);
    }
    return decoding_.well_formed(items);
  }

  bool read_scope_profiles(WireReader message, const std::vector<Label>& resource,
                           ProfileReader& reader) {
    Scope scope;
    scope.labels = resource;
    for (WireReader fields = message; fields.next();) {
      WireReader inner;
      if (fields.field() != 1) {
        fields.skip();
      } else if (!decoding_.message(fields, "scope", inner) || !read_scope(inner, scope)) {
        return false;
      }
    }
    std::vector<Profile> profiles;
    size_t position = 0;
    while (message.next()) {
      if (message.field() != 2) {
        message.skip();
        continue;
      }
      const Decoding::Part part(decoding_, "profiles", position++);
      WireReader inner;
      if (!decoding_.message(message, "", inner)) return false;
      if (outcome_ != nullptr) ++outcome_->profiles;
      if (reader.read(inner, scope.labels, profiles.emplace_back()) && !decoding_.failed())
        continue;
      if (outcome_ == nullptr) return false;
      profiles.pop_back();
      Error problem = decoding_.recover();
      if (outcome_->rejected++ == 0) outcome_->first_problem = std::move(problem);
    }
    if (!decoding_.well_formed(message)) return false;
    join_sample_types(batch_.dictionary, scope.sample_type_order, scope.default_sample_type,
                      profiles);
    for (Profile& profile : profiles) batch_.profiles.push_back(std::move(profile));
    return true;
  }

  // What happened to the shared dictionary is told with the first profile.
  void count_losses() {
    if (batch_.profiles.empty()) return;
    const auto add = [&](const char* reason, uint64_t count) {
      if (count > 0)
        batch_.profiles.front().add_loss(batch_.dictionary.strings.intern(reason), count);
    };
    add(kLossInvalidUtf8, decoding_.replaced_utf8);
    add(kLossNameTruncated, decoding_.truncated_names);
    add(kLossUnitDropped, decoding_.dropped_units);
  }

  std::string_view bytes_;
  ProfileBatch batch_;
  Decoding decoding_;
  OtlpOutcome* outcome_;
  const Layout* layout_;
  bool is_release_1_7_ = false;
};

// A ResourceProfiles has nothing but lengths-and-bytes, and scopes inside; pprof's ValueType, which
// has the same field number, has nothing but integers.
bool is_resource_profiles(WireReader message, WireReader& first_profile) {
  bool has_scope = false;
  while (message.next()) {
    if (message.type() != WireType::kBytes) return false;
    if (message.field() > 3 && message.field() != 1000) return false;
    const bool is_scope = message.field() == 2;
    WireReader inner = message.message();
    if (!is_scope) continue;
    has_scope = true;
    while (inner.next()) {
      if (inner.type() != WireType::kBytes || inner.field() > 3) return false;
      const bool is_profile = inner.field() == 2;
      WireReader profile = inner.message();
      if (is_profile && first_profile.at_end()) first_profile = profile;
    }
    if (!inner.ok()) return false;
  }
  return message.ok() && has_scope;
}

// Releases before 1.7 have no dictionary beside the profiles, which makes them look like traces,
// metrics and logs: 1.4 and 1.5 have a string table inside each profile, 1.3 has two times first.
bool is_profile_without_dictionary(WireReader profile) {
  bool has_strings = false;
  bool has_samples = false;
  int fixed_times = 0;
  while (profile.next()) {
    if (profile.is(2, WireType::kFixed64) || profile.is(3, WireType::kFixed64)) ++fixed_times;
    if (profile.is(2, WireType::kBytes)) has_samples = true;
    const bool is_string = profile.is(10, WireType::kBytes);
    if (is_string) {
      has_strings |= profile.bytes().empty();
    } else {
      profile.skip();
    }
  }
  return profile.ok() && (fixed_times == 2 || (has_strings && has_samples));
}

}  // namespace

Result<ProfileBatch> read_transcoded(std::string_view bytes, const ReadOptions& options,
                                     OtlpOutcome* outcome) {
  return MessageReader(bytes, options, true, outcome, &kLayoutJson).read();
}

}  // namespace otlp

bool looks_like_otlp(std::string_view bytes) {
  WireReader top(bytes);
  WireReader first_profile;
  size_t resources = 0;
  bool has_dictionary = false;
  while (top.next()) {
    if (top.type() != WireType::kBytes || top.field() > 8) return false;
    const uint32_t field = top.field();
    WireReader message = top.message();
    if (!top.ok()) return false;
    if (field != 1) {
      has_dictionary = true;
    } else if (!otlp::is_resource_profiles(message, first_profile)) {
      return false;
    } else {
      ++resources;
    }
  }
  if (!top.ok() || resources == 0) return false;
  return has_dictionary || otlp::is_profile_without_dictionary(first_profile);
}

namespace {

Result<ProfileBatch> read_message(std::string_view bytes, const ReadOptions& options,
                                  OtlpOutcome* outcome) {
  VESTA_TRY(check_input_size("OTLP", bytes, options.max_decoded_bytes));
  if (bytes.empty()) {
    return parse_error("OTLP", 0, "the input is empty",
                       "an OTLP message with no profile still has a dictionary");
  }
  otlp::MessageReader reader(bytes, options, false, outcome, nullptr);
  auto batch = reader.read();
  if (batch || !reader.is_release_1_7()) return batch;
  VESTA_ASSIGN(const std::string rewritten, otlp::from_release_1_7(bytes));
  batch = otlp::MessageReader(rewritten, options, false, outcome, &otlp::kLayoutJson).read();
  // Offsets are those of the rewritten message.
  if (!batch) return with_context(std::move(batch).error(), "rewritten from release 1.7");
  return batch;
}

}  // namespace

Result<ProfileBatch> read_otlp(std::string_view bytes, const ReadOptions& options) {
  return read_message(bytes, options, nullptr);
}

Result<ProfileBatch> read_otlp_partly(std::string_view bytes, const ReadOptions& options,
                                      OtlpOutcome& outcome) {
  return read_message(bytes, options, &outcome);
}

}  // namespace vesta
