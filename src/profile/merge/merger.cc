#include "profile/merge/merger.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/table_hash.h"

namespace vesta {
namespace {

uint64_t packed(const SampleType& type) {
  return uint64_t{type.type.value} << 32 | type.unit.value;
}

// Profiles that agree in these become one.
uint64_t hash_of_kind(const Profile& p) {
  TableHash hash;
  hash.add(uint64_t{p.name.value} << 32 | p.resource.value).add(packed(p.period_type));
  for (const SampleType& type : p.sample_types) hash.add(packed(type));
  return hash.value();
}

bool same_kind(const Profile& a, const Profile& b) {
  return a.name == b.name && a.resource == b.resource && a.period_type == b.period_type &&
         a.sample_types == b.sample_types;
}

SampleType moved(SampleType type, DictionaryMap& map) {
  type.type = map.string(type.type);
  type.unit = map.string(type.unit);
  return type;
}

}  // namespace

int64_t earlier(int64_t a, int64_t b) {
  if (a == 0) return b;
  if (b == 0) return a;
  return std::min(a, b);
}

void Merger::add(const ProfileBatch& batch, size_t side, std::string_view name_prefix) {
  DictionaryMap map(batch.dictionary, builder_, &unifier_);
  // By convention the first mapping is that of the program itself.
  if (batch.dictionary.mappings.size() > 1)
    main_mapping_ = unifier_.lesser(main_mapping_, map.mapping(MappingId(1)));
  for (const Profile& profile : batch.profiles) add(profile, map, side, name_prefix);
}

void Merger::add(const Profile& from, DictionaryMap& map, size_t side,
                 std::string_view name_prefix) {
  Profile head;
  head.name = map.string(from.name);
  if (!name_prefix.empty()) {
    head.name = builder_.string(std::string(name_prefix) +
                                std::string(batch_.dictionary.string(head.name)));
  }
  head.resource = map.label_set(from.resource);
  for (const SampleType& type : from.sample_types) head.sample_types.push_back(moved(type, map));
  head.period_type = moved(from.period_type, map);

  Group& group = group_for(head);
  Origin& origin = group.origin;
  ++origin.members[side];
  origin.time_ns[side] = earlier(origin.time_ns[side], from.time_ns);
  origin.duration_ns[side] = saturating_add(origin.duration_ns[side], from.duration_ns);
  if (side + 1 == sides_) merge_header(group, from, map);

  const size_t types = from.sample_types.size();
  row_.assign(types * sides_, 0);
  for (size_t row = 0; row < from.samples.size(); ++row) {
    std::ranges::copy(from.values(row), row_.begin() + static_cast<ptrdiff_t>(side * types));
    group.samples.add(map.stack(from.samples.stacks[row]), row_,
                      map.label_set(from.samples.label_set(row)), map.link(from.samples.link(row)),
                      from.samples.time_ns(row));
  }
}

// What does not depend on the order of what is added: extremes, sums and sets.
void Merger::merge_header(Group& group, const Profile& from, DictionaryMap& map) {
  Profile& to = group.profile;
  const bool is_first = group.origin.members[sides_ - 1] == 1;
  to.period = is_first ? from.period : std::max(to.period, from.period);
  to.default_type = is_first ? from.default_type : std::min(to.default_type, from.default_type);
  to.doc_url = lesser(to.doc_url, map.string(from.doc_url));
  // What to keep is an exception from what to drop, so the two stay together.
  const StringId drop = map.string(from.drop_frames);
  const StringId keep = map.string(from.keep_frames);
  if (drop == to.drop_frames) {
    to.keep_frames = lesser(to.keep_frames, keep);
  } else if (lesser(drop, to.drop_frames) == drop) {
    to.drop_frames = drop;
    to.keep_frames = keep;
  }
  for (const StringId comment : from.comments) {
    const StringId id = map.string(comment);
    group.comments.find_or_insert(
        TableHash().add(id.value).value(), [&](uint32_t at) { return to.comments[at] == id; },
        [&] {
          to.comments.push_back(id);
          return static_cast<uint32_t>(to.comments.size() - 1);
        });
  }
  for (const Loss& loss : from.losses) {
    const StringId reason = map.string(loss.reason);
    Loss& sum = to.losses[group.losses.find_or_insert(
        TableHash().add(reason.value).value(),
        [&](uint32_t at) { return to.losses[at].reason == reason; },
        [&] {
          to.losses.push_back({reason, 0});
          return static_cast<uint32_t>(to.losses.size() - 1);
        })];
    if (__builtin_add_overflow(sum.count, loss.count, &sum.count)) sum.count = UINT64_MAX;
  }
}

Merger::Group& Merger::group_for(const Profile& head) {
  return groups_[group_index_.find_or_insert(
      hash_of_kind(head), [&](uint32_t at) { return same_kind(groups_[at].profile, head); },
      [&] {
        groups_.emplace_back(head, head.sample_types.size() * sides_);
        return static_cast<uint32_t>(groups_.size() - 1);
      })];
}

// Of two texts, the lesser non-empty one.
StringId Merger::lesser(StringId a, StringId b) const {
  if (!a || !b) return a ? a : b;
  return batch_.dictionary.string(a) <= batch_.dictionary.string(b) ? a : b;
}

Merger::Gathered Merger::take() {
  unifier_.settle();
  Gathered out;
  out.main_mapping = main_mapping_;
  for (Group& group : groups_) {
    const size_t side = sides_ - 1;
    group.profile.time_ns = group.origin.time_ns[side];
    group.profile.duration_ns = group.origin.duration_ns[side];
    group.profile.samples = group.samples.finish();
    batch_.profiles.push_back(std::move(group.profile));
    out.origins.push_back(group.origin);
  }
  groups_.clear();
  out.batch = std::move(batch_);
  return out;
}

}  // namespace vesta
