// Which profile type a person means, among those that a tenant has. Pure functions but for asking
// the engine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/engine.h"

namespace vesta {

// In order of their ids.
Result<std::vector<ProfileType>> stored_types(Engine& engine, std::string_view tenant,
                                              const Selector& selector, TimeRange range);

// A five-part id is taken at its word, whether there is such a type or not. Other words are those
// of find_type() in profile/merged_profile.h, looked for among the types of the matching series;
// kUsage with what there is when none is meant. An empty word is CPU time where there is any, else
// the only type; kUsage when there are several.
Result<ProfileType> find_stored_type(Engine& engine, std::string_view tenant, std::string_view word,
                                     const Selector& selector, TimeRange range);

// The same among given types.
Result<ProfileType> find_stored_type(const std::vector<ProfileType>& types, std::string_view word);

// The shortest word that means this one among the given types: a short name ("cpu", "alloc"), the
// sample type, the family, or else its id. Among fewer types that hold this one it means the same.
std::string selector_word(const std::vector<ProfileType>& types, const ProfileType& type);

}  // namespace vesta
