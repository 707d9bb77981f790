// For tests: a FrameProfile from folded stacks ("main;work 10"), with the suffixes _[k] for kernel,
// _[j] for JVM and _[i] for inlined frames. Owns what it makes.
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profile/frame_profile.h"

namespace vesta {

class FoldedSample {
 public:
  // Adds the lines as values, or as baseline values.
  void add(std::string_view text, bool baseline = false) {
    profile_.has_baseline |= baseline;
    while (!text.empty()) {
      const size_t end = text.find('\n');
      add_line(text.substr(0, end), baseline);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }

  FrameProfile profile(std::string_view type = "cpu", std::string_view unit = "nanoseconds") {
    FrameProfile out = profile_;
    out.type = type;
    out.unit = unit;
    out.dictionary = std::make_shared<Dictionary>(dictionary_);
    return out;
  }

 private:
  void add_line(std::string_view line, bool baseline) {
    const size_t space = line.rfind(' ');
    if (space == std::string_view::npos) return;
    const int64_t value = std::strtoll(std::string(line.substr(space + 1)).c_str(), nullptr, 10);
    std::string_view rest = line.substr(0, space);
    std::vector<FrameRef> stack;
    while (true) {
      const size_t cut = rest.find(';');
      stack.insert(stack.begin(), frame(rest.substr(0, cut)));
      if (cut == std::string_view::npos) break;
      rest.remove_prefix(cut + 1);
    }
    const FrameStackId id = profile_.stacks.add(stack);
    profile_.weights.push_back({id, {}, baseline ? 0 : value, baseline ? value : 0});
    (baseline ? profile_.baseline_total : profile_.total) += value;
  }

  FrameRef frame(std::string_view name) {
    FrameKind kind = FrameKind::kUnknown;
    bool inlined = false;
    if (name.ends_with("_[k]")) kind = FrameKind::kKernel;
    if (name.ends_with("_[j]")) kind = FrameKind::kJvm;
    if (name.ends_with("_[i]")) inlined = true;
    if (kind != FrameKind::kUnknown || inlined) name.remove_suffix(4);
    const auto [at, is_new] =
        frames_.try_emplace({std::string(name), kind}, FrameId(profile_.frames.size()));
    if (is_new) {
      Frame added;
      added.name = dictionary_.strings.intern(name);
      added.kind = kind;
      profile_.frames.push_back(added);
    }
    return FrameRef(at->second, inlined);
  }

  Dictionary dictionary_;
  FrameProfile profile_;
  std::map<std::pair<std::string, FrameKind>, FrameId> frames_;
};

}  // namespace vesta
