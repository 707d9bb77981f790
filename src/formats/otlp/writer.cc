#include "formats/otlp/writer.h"

#include <algorithm>
#include <numeric>

#include "base/id_index.h"
#include "base/table_hash.h"
#include "base/utf8.h"
#include "formats/otlp/conventions.h"
#include "formats/otlp/dictionary_writer.h"
#include "formats/otlp/json_mapping.h"

namespace vesta {
namespace otlp {
namespace {

// Rows of one stack, label set and link, which OTLP wants in one Sample.
struct SampleGroup {
  uint32_t stack;
  uint32_t attributes;
  uint32_t link;
  uint32_t has_times;  // rows with and without a time have different shapes
  friend bool operator==(const SampleGroup&, const SampleGroup&) = default;
};

// ScopeProfiles and ResourceProfiles in the making; the bytes of the scope or resource are their
// identity.
struct ScopeBytes {
  std::string scope;
  bool is_shared = true;  // false: the profiles in it are one pprof, and no others may join them
  WireWriter profiles;
};
struct ResourceBytes {
  std::string resource;
  std::vector<ScopeBytes> scopes;
};

class BatchWriter {
 public:
  BatchWriter(const Dictionary& dictionary, std::span<const Profile> profiles,
              const OtlpWriteOptions& options)
      : profiles_(profiles), options_(options), source_(dictionary), dictionary_(dictionary) {}

  std::string write() {
    for (const Profile& profile : profiles_) add(profile);
    WireWriter out;
    for (const ResourceBytes& resource : resources_) {
      WireWriter message;
      message.bytes(1, resource.resource);
      for (const ScopeBytes& scope : resource.scopes) {
        WireWriter inner;
        inner.bytes(1, scope.scope);
        inner.append(scope.profiles);
        message.message(2, inner);
      }
      out.message(1, message);
    }
    out.message(2, dictionary_.finish());
    return out.take();
  }

 private:
  void add(const Profile& profile) {
    WireWriter resource;
    WireWriter scope;
    write_resource(profile, resource, scope);
    const bool is_split = profile.sample_types.size() > 1;
    if (is_split) write_pprof_scope(profile, scope);
    ScopeBytes& target = find_scope(resource.take(), scope.take(), !is_split);
    for (size_t type = 0; type < std::max<size_t>(profile.sample_types.size(), 1); ++type)
      target.profiles.message(2, encode(profile, type));
  }

  ScopeBytes& find_scope(std::string resource, std::string scope, bool is_shared) {
    auto at = std::ranges::find(resources_, resource, &ResourceBytes::resource);
    if (at == resources_.end()) at = resources_.insert(at, ResourceBytes{std::move(resource), {}});
    auto& scopes = at->scopes;
    if (is_shared) {
      for (ScopeBytes& known : scopes) {
        if (known.is_shared && known.scope == scope) return known;
      }
    }
    return scopes.emplace_back(ScopeBytes{std::move(scope), is_shared, {}});
  }

  static void write_key_value(WireWriter& out, uint32_t field, std::string_view name,
                              const std::string& value) {
    WireWriter pair;
    pair.bytes(1, replace_invalid_utf8(name));
    pair.always_bytes(2, value);
    out.message(field, pair);
  }

  void write_resource(const Profile& profile, WireWriter& resource, WireWriter& scope) {
    std::vector<Label> rest;
    std::vector<Label> of_scope;
    StringId scope_name;
    StringId scope_version;
    for (const Label& label : source_.label_sets[profile.resource]) {
      const std::string_view name = source_.string(label.key);
      const bool is_text = label.kind == LabelKind::kString;
      if (is_text && name == key::kScopeName && !scope_name) {
        scope_name = label.text;
      } else if (is_text && name == key::kScopeVersion && !scope_version) {
        scope_version = label.text;
      } else if (name.starts_with(key::kScopeAttributePrefix)) {
        of_scope.push_back(label);
      } else {
        rest.push_back(label);
      }
    }
    for (const KeyedValue& item : group_by_key(source_, rest))
      write_key_value(resource, 1, source_.string(item.key), item.value);
    scope.bytes(
        1, scope_name ? replace_invalid_utf8(source_.string(scope_name)) : options_.scope_name);
    const std::string version = replace_invalid_utf8(source_.string(scope_version));
    scope.bytes(2, scope_name || scope_version ? version : options_.scope_version);
    for (const KeyedValue& item : group_by_key(source_, of_scope)) {
      write_key_value(scope, 3, source_.string(item.key).substr(key::kScopeAttributePrefix.size()),
                      item.value);
    }
  }

  void write_pprof_scope(const Profile& profile, WireWriter& scope) {
    const SampleType& shown = profile.sample_types[profile.default_type];
    write_key_value(scope, 3, key::kDefaultSampleType, text_value(source_.string(shown.type)));
    std::vector<std::string> order;
    for (size_t i = 0; i < profile.sample_types.size(); ++i)
      order.push_back(int_value(static_cast<int64_t>(i)));
    write_key_value(scope, 3, key::kSampleTypeOrder, array_value(order));
  }

  WireWriter encode_type(const SampleType& type) {
    WireWriter message;
    message.uint64(1, dictionary_.string(type.type));
    message.uint64(2, dictionary_.string(type.unit));
    return message;
  }

  WireWriter encode(const Profile& profile, size_t type) {
    WireWriter message;
    if (type < profile.sample_types.size()) {
      message.message(1, encode_type(profile.sample_types[type]));
      write_samples(profile, type, message);
    }
    message.fixed64(3, static_cast<uint64_t>(std::max<int64_t>(profile.time_ns, 0)));
    message.uint64(4, static_cast<uint64_t>(std::max<int64_t>(profile.duration_ns, 0)));
    if (profile.period_type.type || profile.period_type.unit)
      message.message(5, encode_type(profile.period_type));
    message.int64(6, profile.period);
    message.packed(11, profile_attributes(profile, type), [](uint32_t index) { return index; });
    return message;
  }

  std::vector<uint32_t> profile_attributes(const Profile& profile, size_t type) {
    std::vector<uint32_t> attributes;
    const auto text = [&](std::string_view name, StringId id) {
      if (id) attributes.push_back(dictionary_.attribute(name, text_value(source_.string(id))));
    };
    text(key::kProfileName, profile.name);
    if (!profile.comments.empty()) {
      std::vector<std::string> comments;
      for (const StringId comment : profile.comments)
        comments.push_back(text_value(source_.string(comment)));
      attributes.push_back(dictionary_.attribute(key::kComment, array_value(comments)));
    }
    text(key::kDocUrl, profile.doc_url);
    text(key::kDropFrames, profile.drop_frames);
    text(key::kKeepFrames, profile.keep_frames);
    // Losses add up where profiles are joined, so only one of them tells.
    if (type == 0) {
      for (const Loss& loss : profile.losses) {
        const std::string name =
            std::string(key::kLossPrefix) + std::string(source_.string(loss.reason));
        const uint64_t count = std::min<uint64_t>(loss.count, INT64_MAX);
        attributes.push_back(dictionary_.attribute(name, int_value(static_cast<int64_t>(count))));
      }
    }
    return attributes;
  }

  // Of several types, each profile has the rows that are not zero in it; a row of zeros only stays
  // with the first.
  bool has_row(const Profile& profile, size_t type, size_t row) const {
    if (profile.sample_types.size() == 1 || profile.value(row, type) != 0) return true;
    return type == 0 && std::ranges::all_of(profile.values(row), [](int64_t v) { return v == 0; });
  }

  void write_samples(const Profile& profile, size_t type, WireWriter& out) {
    const Samples& samples = profile.samples;
    std::vector<SampleGroup> groups;
    std::vector<uint32_t> group_of_row;
    std::vector<size_t> rows;
    IdIndex index;
    for (size_t row = 0; row < samples.size(); ++row) {
      if (!has_row(profile, type, row)) continue;
      const SampleGroup group{dictionary_.stack(samples.stacks[row]),
                              dictionary_.attribute_list(samples.label_set(row)),
                              dictionary_.link(samples.link(row)),
                              samples.time_ns(row) > 0 ? 1u : 0u};
      group_of_row.push_back(index.find_or_insert(
          table_hash_of(std::span<const SampleGroup>(&group, 1)),
          [&](uint32_t at) { return groups[at] == group; },
          [&] {
            groups.push_back(group);
            return static_cast<uint32_t>(groups.size() - 1);
          }));
      rows.push_back(row);
    }
    // Rows of one group side by side, otherwise as they come.
    std::vector<uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](uint32_t at) { return group_of_row[at]; });
    std::vector<int64_t> values;
    std::vector<int64_t> times;
    for (size_t i = 0; i < order.size();) {
      const uint32_t group = group_of_row[order[i]];
      values.clear();
      times.clear();
      for (; i < order.size() && group_of_row[order[i]] == group; ++i) {
        const size_t row = rows[order[i]];
        const int64_t value = profile.value(row, type);
        if (groups[group].has_times) {
          values.push_back(value);
          times.push_back(samples.time_ns(row));
        } else if (values.empty()) {
          values.push_back(value);
        } else {
          values[0] = saturating_add(values[0], value);
        }
      }
      WireWriter sample;
      sample.uint64(1, groups[group].stack);
      sample.bytes(2, dictionary_.packed_attributes(groups[group].attributes));
      sample.uint64(3, groups[group].link);
      sample.packed(4, values, [](int64_t value) { return value; });
      sample.packed_fixed64(5, times);
      out.message(2, sample);
    }
  }

  std::span<const Profile> profiles_;
  const OtlpWriteOptions& options_;
  const Dictionary& source_;
  DictionaryWriter dictionary_;
  std::vector<ResourceBytes> resources_;
};

}  // namespace
}  // namespace otlp

std::string write_otlp(const ProfileBatch& batch) {
  return write_otlp(batch.dictionary, batch.profiles);
}

std::string write_otlp(const Dictionary& dictionary, std::span<const Profile> profiles,
                       const OtlpWriteOptions& options) {
  return otlp::BatchWriter(dictionary, profiles, options).write();
}

std::string write_otlp_json(const ProfileBatch& batch) {
  return otlp::protobuf_to_json(write_otlp(batch));
}

}  // namespace vesta
