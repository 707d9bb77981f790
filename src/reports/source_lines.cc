#include "reports/source_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <tuple>

#include "profile/flame_tree.h"
#include "profile/frame_name.h"
#include "profile/frame_names.h"
#include "profile/frame_profile.h"
#include "profile/label_filter.h"
#include "profile/source_path.h"
#include "store/selection.h"

namespace vesta {
namespace {

// `make_table(granularity)` gives the table of functions with their files, and that of lines.
template <class MakeTable>
Result<std::vector<FunctionLines>> lines_by(std::string_view regex, MakeTable&& make_table) {
  VESTA_ASSIGN(const auto wanted, compile_regex(regex, "the function pattern"));
  VESTA_ASSIGN(const FunctionTable functions, make_table(Granularity::kFileFunction));
  VESTA_ASSIGN(const FunctionTable lines, make_table(Granularity::kLine));
  std::map<std::pair<std::string_view, std::string_view>, FunctionLines> found;
  for (const FunctionRow& row : functions.rows) {
    const FrameName& name = (*functions.names)[row.name];
    if (name.name.empty() || is_place_name(name.name, name.binary) ||
        !RE2::PartialMatch(re2::StringPiece(name.name.data(), name.name.size()), *wanted))
      continue;
    found[{name.name, name.file}] = {.function = std::string(name.name),
                                     .file = std::string(name.file),
                                     .start_line = name.start_line,
                                     .flat = row.flat,
                                     .cum = row.cum,
                                     .lines = {}};
  }
  for (const FunctionRow& row : lines.rows) {
    const FrameName& name = (*lines.names)[row.name];
    const auto function = found.find({name.name, name.file});
    if (function != found.end()) function->second.lines[name.line] = {row.flat, row.cum};
  }
  std::vector<FunctionLines> out;
  for (auto& [key, function] : found) out.push_back(std::move(function));
  std::ranges::stable_sort(out, [](const FunctionLines& a, const FunctionLines& b) {
    return std::tuple(a.flat, a.cum) > std::tuple(b.flat, b.cum);
  });
  return out;
}

}  // namespace

Result<std::vector<FunctionLines>> source_lines(const MergedProfile& profile,
                                                const FrameFilters& filters,
                                                std::string_view regex) {
  return lines_by(regex, [&](Granularity granularity) -> Result<FunctionTable> {
    VESTA_ASSIGN(const FrameProfile frames, resolve_frames(profile, {granularity, filters}));
    return function_table(frames);
  });
}

Result<std::vector<FunctionLines>> source_lines(const Selection& selection, TreeOptions options,
                                                std::string_view regex) {
  return lines_by(regex, [&](Granularity granularity) -> Result<FunctionTable> {
    options.group = granularity;
    return function_table(selection, options);
  });
}

std::optional<LineWeights> line_weights(FlameTree tree, std::string_view file,
                                        std::string_view function) {
  const FrameNames& names = *tree.names;
  // Trees have paths as they are after cleaning; whoever asks may have another spelling.
  std::string scratch;
  const std::string_view cleaned = clean_source_path(file, scratch);
  bool is_there = false;
  std::map<int64_t, uint32_t> numbers;            // of lines, from 1 on
  std::vector<uint32_t> number_of(names.size());  // by name; 0 = elsewhere
  for (uint32_t name = 1; name < names.size(); ++name) {
    const FrameName& frame = names[name];
    if (frame.file.empty() || (frame.file != cleaned && frame.file != file)) continue;
    is_there = true;
    if (!function.empty() && frame.name != function) continue;
    const auto next = static_cast<uint32_t>(numbers.size() + 1);
    number_of[name] = numbers.try_emplace(std::max<int64_t>(frame.line, 0), next).first->second;
  }
  if (!is_there) return std::nullopt;
  // Lines take the place of names, so that two functions of one line count once.
  for (uint32_t& name : tree.name) name = number_of[name];
  std::map<uint32_t, LineWeight> weights;
  for (const FunctionRow& row : function_table(tree).rows) weights[row.name] = {row.flat, row.cum};
  LineWeights out;
  for (const auto& [line, number] : numbers) {
    if (const auto weight = weights.find(number); weight != weights.end())
      out[line] = weight->second;
  }
  return out;
}

}  // namespace vesta
