// Names of the types of incoming profiles: which family a profile belongs to when its format does
// not say, and rules that old clients need. The names themselves are in profile/profile_types.h.
// Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "profile/profile_types.h"
#include "store/selection.h"

namespace vesta {

// The words by which a client shows sample types: "samples" is "cpu", say. Pyroscope's
// sample_type_config is such a table.
using DisplayNames = std::map<std::string, std::string, std::less<>>;

// What Pyroscope takes a pprof of these types for: "process_cpu", "memory", "wall" …
std::string guess_family(const Dictionary& dictionary, const Profile& profile,
                         const DisplayNames& display_names = {});
// What the defaults of Pyroscope are, for clients that send no table.
const DisplayNames& default_display_names();

// Makes the one type of the profile that of the row: a count of samples becomes time with
// `sample_rate` samples per second, unless that is 0.
// REQUIRES: one sample type
void apply_type_word(Dictionary& dictionary, Profile& profile, const ProfileTypeRow& word,
                     double sample_rate);
// REQUIRES: one sample type
void set_type(Dictionary& dictionary, Profile& profile, const ProfileType& type);

// A profile of wall-clock time may hold CPU time as well, which is a family of its own.
void separate_cpu_from_wall(Dictionary& dictionary, std::vector<Profile>& profiles);

// "main.F[go.shape.int]" and "main.F[go.shape.string]" are "main.F[...]".
void collapse_go_generics(Dictionary& dictionary);

// The same text, unless it holds a colon, which separates the parts of a type's name.
StringId without_colons(Dictionary& dictionary, StringId text);

}  // namespace vesta
