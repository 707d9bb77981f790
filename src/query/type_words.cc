#include "query/type_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "profile/merged_profile.h"
#include "profile/profile_types.h"

namespace vesta {
namespace {

std::vector<TypeInfo> infos_of(const std::vector<ProfileType>& types) {
  std::vector<TypeInfo> infos;
  for (const ProfileType& type : types) {
    TypeInfo info;
    info.name = type.name;
    info.type = type.sample_type;
    info.unit = type.sample_unit;
    info.period_type = type.period_type;
    info.period_unit = type.period_unit;
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<ProfileType> only_type_of(const std::vector<ProfileType>& types) {
  if (types.size() == 1) return types[0];
  const auto infos = infos_of(types);
  if (std::ranges::any_of(infos, [](const TypeInfo& i) { return i.type == "cpu"; }))
    return find_stored_type(types, "cpu");
  std::string list;
  for (const ProfileType& type : types) list += (list.empty() ? "" : ", ") + type.id();
  return Error{ErrorCode::kUsage, "the query has no profile type",
               "put it before the brace, as in cpu{}; available: " + list};
}

}  // namespace

Result<std::vector<ProfileType>> stored_types(Engine& engine, std::string_view tenant,
                                              const Selector& selector, TimeRange range) {
  VESTA_ASSIGN(const auto ids, engine.label_values(tenant, kTypeLabel, selector, range, "", 0));
  std::vector<ProfileType> types;
  for (const std::string& id : ids) {
    if (auto type = ProfileType::parse(id); type.ok()) types.push_back(std::move(*type));
  }
  return types;
}

Result<ProfileType> find_stored_type(const std::vector<ProfileType>& types, std::string_view word) {
  if (types.empty()) {
    return Error{ErrorCode::kNoData, "no series match in this time range",
                 "try a longer range; /api/v1/series lists all series"};
  }
  if (word.empty()) return only_type_of(types);
  VESTA_ASSIGN(const TypeInfo found, find_type(infos_of(types), word));
  return ProfileType{found.name, found.type, found.unit, found.period_type, found.period_unit};
}

Result<ProfileType> find_stored_type(Engine& engine, std::string_view tenant, std::string_view word,
                                     const Selector& selector, TimeRange range) {
  if (std::ranges::count(word, ':') >= 4) return ProfileType::parse(word);
  VESTA_ASSIGN(const auto types, stored_types(engine, tenant, selector, range));
  return find_stored_type(types, word);
}

std::string selector_word(const std::vector<ProfileType>& types, const ProfileType& type) {
  const auto infos = infos_of(types);
  std::vector<std::string_view> words = short_type_names();
  words.push_back(type.sample_type);
  words.push_back(type.name);
  for (const std::string_view word : words) {
    if (word.empty()) continue;
    const auto found = find_type(infos, word);
    if (!found.ok() || found->id() != type.id()) continue;
    // Clients choose names of types; not every one can stand before a brace.
    const auto parsed = parse_selector(std::string(word) + "{}");
    if (parsed.ok() && parsed->type == word && parsed->selector.empty()) return std::string(word);
  }
  return type.id();
}

}  // namespace vesta
