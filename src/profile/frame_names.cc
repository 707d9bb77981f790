#include "profile/frame_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/table_hash.h"
#include "base/text.h"
#include "profile/frame_name.h"

namespace vesta {

namespace {

constexpr auto kWords = std::to_array<std::pair<std::string_view, Granularity>>({
    {"function", Granularity::kFunction},
    {"file-function", Granularity::kFileFunction},
    {"file", Granularity::kFile},
    {"line", Granularity::kLine},
    {"address", Granularity::kAddress},
    {"binary", Granularity::kBinary},
});

}  // namespace

Result<Granularity> parse_granularity(std::string_view word) {
  if (word.empty()) return Granularity::kFunction;
  const auto found =
      std::ranges::find(kWords, word, &std::pair<std::string_view, Granularity>::first);
  if (found != kWords.end()) return found->second;
  return Error{ErrorCode::kUsage, fmt::format("cannot group by '{}'", word),
               "one of function, file-function, file, line, address, binary"};
}

FrameNames::FrameNames(const FrameProfile& profile)
    : granularity_(profile.granularity), kept_{profile.dictionary} {
  names_.reserve(profile.frames.size());
  for (size_t i = 0; i < profile.frames.size(); ++i) names_.push_back(name_of(profile, FrameId(i)));
}

FrameNames::Key FrameNames::key_of(const FrameName& name) const {
  // Of the rest, what counts is set, and no more.
  if (granularity_ == Granularity::kFunction) return {name.name, {}};
  if (granularity_ == Granularity::kBinary) return {base_name(name.binary), {}};
  return {name.name, name.file, name.line, name.column, name.address};
}

uint64_t FrameNames::hash_of(const Key& key) const {
  const uint64_t by_name = table_hash(key.name);  // as find_function() has it
  if (granularity_ == Granularity::kFunction) return by_name;
  return TableHash()
      .add(by_name)
      .add(table_hash(key.file))
      .add(static_cast<uint64_t>(key.line))
      .add(key.address)
      .value();
}

uint32_t FrameNames::find_function(std::string_view name) const {
  const uint32_t found =
      index_.find(table_hash(name), [&](uint32_t at) { return names_[at].name == name; });
  return found == IdIndex::kNotFound ? 0 : found;
}

uint32_t FrameNames::add_label(std::string text) {
  FrameName name;
  name.name = keep_text(std::move(text));
  if (granularity_ == Granularity::kBinary) name.binary = name.name;
  names_.push_back(name);
  return static_cast<uint32_t>(names_.size() - 1);
}

int FrameNames::compare(uint32_t a, uint32_t b) const {
  const FrameName& left = names_[a];
  const FrameName& right = names_[b];
  // Texts begin with the name, and most differ in it; making them costs.
  const bool by_name = granularity_ != Granularity::kBinary &&
                       granularity_ != Granularity::kAddress && !left.name.empty() &&
                       !right.name.empty();
  if (by_name && (granularity_ == Granularity::kFunction || left.name != right.name))
    return left.name.compare(right.name);
  return text(a).compare(text(b));
}

}  // namespace vesta
