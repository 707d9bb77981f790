// The one table of profile types. What a type is called by people, in the store, by Pyroscope, OTLP
// and ProfileEvents, whether its values add up over time, how its rate reads: lookups in C++, help
// texts, ingest and the table of the web UI (ui/src/text/profile_types.gen.ts) come from here, and
// tests hold the documents to it. Pure functions over constants.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace vesta {

// One type of sample as one kind of profile has it.
struct ProfileTypeRow {
  // What people type: rows with the same word are what they may mean by it, best first. Empty for
  // a type without a short word.
  std::string_view word;
  std::string_view family;  // the name of the profile: "process_cpu"
  std::string_view type;
  std::string_view unit;
  Temporality temporality = Temporality::kCumulative;
  // The ends of Pyroscope's application names that stand for it, separated by spaces.
  std::string_view pyroscope = {};
  // What a second of it per second is called: CPU time is cores. Empty where that stays s/s.
  std::string_view rate = {};
  // Pyroscope counts it in samples that are worth a time each, with a period in CPU time.
  bool is_time = false;
  // A profile in OTLP that only says this type is of this family.
  bool is_otlp_family = false;
};
std::span<const ProfileTypeRow> profile_type_rows();

// "cpu", "off-cpu", …: every short word once, in the order of the table.
std::vector<std::string_view> short_type_names();
// The same as "cpu, off-cpu, …", for help and errors.
std::string short_type_list();
// The types that a short word may mean, best first; empty for another word.
std::vector<std::string_view> types_of_word(std::string_view word);

// temporality_of() in profile/profile.h reads this table too.

// What a type is called where profiles of several families are in one, for types that families with
// different words have in common: "block_duration" for the "delay" of "block". Empty for others.
std::string_view own_type_name(std::string_view family, std::string_view type);

// The family of a profile in OTLP that only says its type; empty when the table does not know.
std::string_view otlp_family_of(std::string_view type);

// Null for a word that is not Pyroscope's.
const ProfileTypeRow* find_pyroscope_word(std::string_view word);
// "cpu, itimer, wall, …" for errors.
std::string pyroscope_word_list();

// How ProfileEvents of the agent's own profiles are called.
struct EventWords {
  std::string_view event;         // "ebpf.CPUSample"
  std::string_view profile_type;  // "cpu"
};
EventWords event_words(std::string_view family, std::string_view type);

// How Pyroscope's flame graphs say what they count: CPU time is samples at a rate of 1e9.
struct FlamebearerUnits {
  std::string_view units;
  int64_t sample_rate = 100;
};
// `samples_per_second` is for counts of samples, where it is known.
FlamebearerUnits flamebearer_units(std::string_view type, std::string_view unit,
                                   std::optional<int64_t> samples_per_second);

// ui/src/text/profile_types.gen.ts, as it has to be.
std::string profile_types_typescript();

}  // namespace vesta
