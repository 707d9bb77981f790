#include "query/line_weights.h"

#include <algorithm>
#include <map>

#include "profile/source_path.h"

namespace vesta {

std::optional<std::vector<SourceLine>> line_weights(const FlameTree& tree, std::string_view file,
                                                    std::string_view function) {
  const FrameNames& names = *tree.names;
  // Trees have paths as they are after cleaning; whoever asks may have another spelling.
  std::string scratch;
  const std::string_view cleaned = clean_source_path(file, scratch);
  constexpr int64_t kElsewhere = -1;
  std::vector<int64_t> line_of(names.size(), kElsewhere);
  bool is_there = false;
  for (uint32_t name = 1; name < names.size(); ++name) {
    const FrameName& frame = names[name];
    if (frame.file.empty() || (frame.file != cleaned && frame.file != file)) continue;
    is_there = true;
    if (function.empty() || frame.name == function)
      line_of[name] = std::max<int64_t>(frame.line, 0);
  }
  if (!is_there) return std::nullopt;
  std::map<int64_t, SourceLine> lines;
  for (uint32_t node = 1; node < tree.size(); ++node) {
    const int64_t line = line_of[tree.name[node]];
    // A filter may have left a node without weight.
    if (line == kElsewhere || (tree.weights.self[node] == 0 && tree.weights.total[node] == 0))
      continue;
    SourceLine& weight = lines[line];
    weight.line = line;
    weight.self = saturating_add(weight.self, tree.weights.self[node]);
    bool is_outermost = true;
    for (uint32_t at = tree.parent[node]; at != 0 && is_outermost; at = tree.parent[at])
      is_outermost = line_of[tree.name[at]] != line;
    if (is_outermost) weight.total = saturating_add(weight.total, tree.weights.total[node]);
  }
  std::vector<SourceLine> out;
  out.reserve(lines.size());
  for (const auto& [line, weight] : lines) out.push_back(weight);
  return out;
}

}  // namespace vesta
