#include "profile/merged_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "base/suggest.h"
#include "profile/profile_types.h"

namespace vesta {
namespace {

bool is_type(const Dictionary& d, const Profile& p, size_t type, const TypeInfo& wanted) {
  return d.string(p.sample_types[type].type) == wanted.type &&
         d.string(p.sample_types[type].unit) == wanted.unit && d.string(p.name) == wanted.name;
}

TypeInfo info_of(const ProfileBatch& batch, const Profile& p, size_t type) {
  const Dictionary& d = batch.dictionary;
  TypeInfo info;
  info.name = d.string(p.name);
  info.type = d.string(p.sample_types[type].type);
  info.unit = d.string(p.sample_types[type].unit);
  info.period_type = d.string(p.period_type.type);
  info.period_unit = d.string(p.period_type.unit);
  return info;
}

Error no_such_type(const std::vector<TypeInfo>& types, std::string_view word) {
  constexpr size_t kMostNames = 20;  // enough to choose from; a hostile file may have very many
  std::vector<std::string> names;
  std::set<std::string_view> listed;
  std::string list;
  for (const TypeInfo& type : types) {
    if (!listed.insert(type.type).second) continue;
    names.push_back(type.type);
    if (names.size() <= kMostNames) list += (list.empty() ? "" : ", ") + type.type;
  }
  if (names.size() > kMostNames) list += fmt::format(" and {} more", names.size() - kMostNames);
  const std::string near = nearest(word, names);
  return {ErrorCode::kUsage, fmt::format("no profile type '{}'", word),
          (near.empty() ? "" : fmt::format("did you mean '{}'? ", near)) + "available: " + list};
}

}  // namespace

std::string TypeInfo::id() const {
  return fmt::format("{}:{}:{}:{}:{}", name, type, unit, period_type, period_unit);
}

namespace {

// Takes the mark off a default that would show an empty report while another type has something to
// show: of the same unit if possible.
void move_empty_default(std::vector<TypeInfo>& types, const std::vector<bool>& has_values) {
  const auto wanted = std::ranges::find_if(types, &TypeInfo::is_default);
  if (wanted == types.end() || has_values[static_cast<size_t>(wanted - types.begin())]) return;
  TypeInfo* better = nullptr;
  for (size_t i = types.size(); i-- > 0;) {
    if (!has_values[i]) continue;
    const bool is_alike = types[i].unit == wanted->unit;
    if (better == nullptr || is_alike || better->unit != wanted->unit) better = &types[i];
  }
  if (better == nullptr) return;
  wanted->is_default = false;
  better->is_default = true;
}

}  // namespace

std::vector<TypeInfo> list_types(const ProfileBatch& batch) {
  std::vector<TypeInfo> types;
  std::vector<bool> has_values;  // of each type, other than 0
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, size_t> places;
  const Dictionary& d = batch.dictionary;
  for (size_t i = 0; i < batch.profiles.size(); ++i) {
    const Profile& p = batch.profiles[i];
    for (size_t type = 0; type < p.sample_types.size(); ++type) {
      const auto [known, is_new] =
          places.try_emplace({d.string(p.name), d.string(p.sample_types[type].type),
                              d.string(p.sample_types[type].unit)},
                             types.size());
      if (is_new) {
        types.push_back(info_of(batch, p, type));
        types.back().is_default = i == 0 && type == p.default_type;
      }
      TypeInfo& info = types[known->second];
      info.total = saturating_add(info.total, total_of(p, type));
      // Those of a difference may add up to nothing.
      if (has_values.size() < types.size()) has_values.push_back(false);
      for (size_t row = 0; row < p.samples.size() && !has_values[known->second]; ++row)
        has_values[known->second] = p.value(row, type) != 0;
    }
  }
  move_empty_default(types, has_values);
  return types;
}

Result<TypeInfo> find_type(const std::vector<TypeInfo>& types, std::string_view word) {
  if (types.empty()) {
    return Error{ErrorCode::kNoData, "the profile has no sample types",
                 "the file is empty or was written by a broken tool"};
  }
  if (word.empty()) {
    const auto it = std::ranges::find_if(types, &TypeInfo::is_default);
    return it == types.end() ? types[0] : *it;
  }
  const auto first = [&](auto&& matches) -> const TypeInfo* {
    const auto it = std::ranges::find_if(types, matches);
    return it == types.end() ? nullptr : &*it;
  };
  if (const auto* t = first([&](const TypeInfo& i) { return i.type == word; })) return *t;
  if (const auto* t = first([&](const TypeInfo& i) { return i.id() == word; })) return *t;
  if (const auto* t = first([&](const TypeInfo& i) { return i.type + ":" + i.unit == word; }))
    return *t;
  if (const auto* t = first([&](const TypeInfo& i) { return i.name + ":" + i.type == word; }))
    return *t;
  // A family of that very name first: "mutex" in a recording that has both locks and waits.
  for (const bool in_family : {true, false}) {
    for (const std::string_view type : types_of_word(word)) {
      const auto matches = [&](const TypeInfo& i) {
        return i.type == type && (!in_family || i.name == word);
      };
      if (const auto* t = first(matches)) return *t;
    }
  }
  if (const auto* t = first([&](const TypeInfo& i) { return i.name == word; })) return *t;
  size_t index = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (error == std::errc() && end == word.data() + word.size() && index < types.size())
    return types[index];
  return no_such_type(types, word);
}

MergedProfile select_type(const std::shared_ptr<const ProfileBatch>& batch,
                          const TypeInfo& wanted) {
  MergedProfile out;
  const Dictionary& d = batch->dictionary;
  out.dictionary = std::shared_ptr<const Dictionary>(batch, &batch->dictionary);
  out.type = wanted.type;
  out.unit = wanted.unit;
  out.period_type = wanted.period_type;
  out.period_unit = wanted.period_unit;
  if (d.mappings.size() > 1) out.main_binary = d.string(d.mappings[1].file);
  std::map<std::string_view, uint64_t> losses;
  size_t rows = 0;
  for (const Profile& p : batch->profiles) {
    for (size_t type = 0; type < p.sample_types.size(); ++type)
      rows += is_type(d, p, type, wanted) ? p.samples.size() : 0;
  }
  out.samples.reserve(rows);
  for (const Profile& p : batch->profiles) {
    for (size_t type = 0; type < p.sample_types.size(); ++type) {
      if (!is_type(d, p, type, wanted)) continue;
      out.temporality = p.sample_types[type].temporality;
      out.period = std::max(out.period, p.period);
      if (p.time_ns != 0 && (out.time_ns == 0 || p.time_ns < out.time_ns)) out.time_ns = p.time_ns;
      out.duration_ns = std::max(out.duration_ns, p.duration_ns);
      if (out.drop_frames.empty()) out.drop_frames = d.string(p.drop_frames);
      if (out.keep_frames.empty()) out.keep_frames = d.string(p.keep_frames);
      for (const Loss& loss : p.losses) {
        uint64_t& sum = losses[d.string(loss.reason)];
        if (__builtin_add_overflow(sum, loss.count, &sum)) sum = UINT64_MAX;
      }
      for (size_t row = 0; row < p.samples.size(); ++row) {
        const int64_t value = p.value(row, type);
        if (value == 0) continue;
        out.samples.push_back({p.samples.stacks[row], p.samples.label_set(row), p.resource,
                               p.samples.link(row), value});
      }
    }
  }
  for (const auto& [reason, count] : losses) out.losses.push_back({std::string(reason), count});
  return out;
}

int64_t total_of(const MergedProfile& profile) {
  const Dictionary& d = *profile.dictionary;
  std::vector<int8_t> is_base(d.label_sets.size());
  for (size_t i = 1; i < is_base.size(); ++i) {
    for (const Label& label : d.label_sets[LabelSetId(i)]) {
      if (d.string(label.key) == "pprof::base" && d.string(label.text) == "true") is_base[i] = 1;
    }
  }
  int64_t total = 0;
  int64_t base = 0;
  for (const WeightedStack& sample : profile.samples) {
    const int64_t value = saturating_abs(sample.value);
    total = saturating_add(total, value);
    if (is_base[sample.labels.index()] != 0) base = saturating_add(base, value);
  }
  return base > 0 ? base : total;
}

}  // namespace vesta
