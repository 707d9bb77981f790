#include "profile/source_lines.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "profile/frame_filter.h"

namespace vesta {

Result<std::vector<FunctionLines>> source_lines(const MergedProfile& profile,
                                                const FrameFilters& filters,
                                                std::string_view regex) {
  VESTA_ASSIGN(const auto wanted, compile_regex(regex, "the function pattern"));
  VESTA_ASSIGN(const FrameProfile frames, resolve_frames(profile, {Granularity::kLine, filters}));

  struct Place {
    FunctionLines* function = nullptr;
    LineWeight* line = nullptr;
    uint32_t function_at = 0;
    uint32_t last_seen = 0;
  };
  std::map<std::pair<std::string_view, std::string_view>, std::pair<FunctionLines, uint32_t>> found;
  std::vector<Place> places(frames.frames.size());
  std::unordered_map<StringId, bool> matches;  // one look per name, however many lines it has
  for (size_t i = 1; i < frames.frames.size(); ++i) {
    const Frame& frame = frames.frames[i];
    const std::string_view name = frames.string(frame.name);
    const auto [known, is_new] = matches.try_emplace(frame.name, false);
    if (is_new) {
      known->second =
          !name.empty() && RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *wanted);
    }
    if (!known->second) continue;
    const std::string_view file = frames.string(frame.file);
    const auto [place, is_new_function] = found.try_emplace({name, file});
    FunctionLines& function = place->second.first;
    if (is_new_function) {
      function.function = name;
      function.file = file;
      place->second.second = static_cast<uint32_t>(found.size() - 1);
    }
    places[i].function = &function;
    places[i].function_at = place->second.second;
    places[i].line = &function.lines[frame.line];
  }
  for (const Function& f : profile.dictionary->functions) {
    const auto place =
        found.find({profile.dictionary->string(f.name), profile.dictionary->string(f.file)});
    if (place == found.end() || f.start_line == 0) continue;
    int64_t& start = place->second.first.start_line;
    start = start == 0 ? f.start_line : std::min(start, f.start_line);
  }

  std::vector<uint32_t> function_seen(found.size());
  uint32_t sample = 0;
  for (const StackWeight& weight : frames.weights) {
    ++sample;
    const auto stack = frames.stacks[weight.stack];
    for (size_t i = 0; i < stack.size(); ++i) {
      Place& place = places[stack[i].frame().index()];
      if (place.function == nullptr) continue;
      if (i == 0) {
        place.line->flat = saturating_add(place.line->flat, weight.value);
        place.function->flat = saturating_add(place.function->flat, weight.value);
      }
      if (place.last_seen != sample) {
        place.last_seen = sample;
        place.line->cum = saturating_add(place.line->cum, weight.value);
      }
      if (uint32_t& seen = function_seen[place.function_at]; seen != sample) {
        seen = sample;
        place.function->cum = saturating_add(place.function->cum, weight.value);
      }
    }
  }
  std::vector<FunctionLines> out;
  for (auto& [key, place] : found) {
    FunctionLines& function = place.first;
    if (function.cum != 0 || function.flat != 0) out.push_back(std::move(function));
  }
  std::ranges::stable_sort(out, [](const FunctionLines& a, const FunctionLines& b) {
    return a.flat != b.flat ? a.flat > b.flat : a.cum > b.cum;
  });
  return out;
}

}  // namespace vesta
