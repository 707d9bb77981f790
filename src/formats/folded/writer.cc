#include "formats/folded/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/frame_name.h"

namespace vesta {
namespace {

// A name as it may stand between the separators of the format.
std::string folded_name(std::string name) {
  for (char& c : name) {
    if (c == ';') c = ':';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  name.erase(name.find_last_not_of(' ') + 1);
  return name.empty() ? "[unknown]" : name;
}

// The frames of each location as text, root side first, made when first asked for.
class FrameTexts {
 public:
  explicit FrameTexts(const Dictionary& dictionary)
      : dictionary_(dictionary), texts_(dictionary.locations.size()) {}

  const std::string& operator[](LocationId location) {
    std::string& text = texts_[location.index()];
    if (!text.empty()) return text;
    const bool is_kernel = dictionary_.location(location).kind == FrameKind::kKernel;
    for (size_t line = frame_count(dictionary_, location); line-- > 0;) {
      if (!text.empty()) text += ';';
      text += folded_name(frame_name(dictionary_, location, line));
      if (is_kernel) text += "_[k]";
    }
    return text;
  }

 private:
  const Dictionary& dictionary_;
  std::vector<std::string> texts_;
};

std::string stack_text(std::span<const LocationId> stack, FrameTexts& frames) {
  if (stack.empty()) return "[unknown]";
  std::string text;
  for (size_t at = stack.size(); at-- > 0;) {
    if (!text.empty()) text += ';';
    text += frames[stack[at]];
  }
  // Or the line would read as a comment.
  if (text.front() == '#' && (text.size() == 1 || text[1] == ' ')) text.front() = ':';
  return text;
}

bool ends_in_number(std::string_view text) {
  const size_t before = text.find_last_not_of("0123456789.");
  return before != std::string_view::npos && before + 1 < text.size() &&
         (text[before] == ' ' || text[before] == '-');
}

}  // namespace

std::string write_folded(const ProfileBatch& batch, size_t type, size_t profile_index) {
  if (profile_index >= batch.profiles.size()) return {};
  const Profile& profile = batch.profiles[profile_index];
  if (type >= profile.sample_types.size()) return {};

  std::vector<int64_t> sums(batch.dictionary.stacks.size());
  for (size_t row = 0; row < profile.samples.size(); ++row) {
    int64_t& sum = sums[profile.samples.stacks[row].index()];
    sum = saturating_add(sum, profile.value(row, type));
  }

  FrameTexts frames(batch.dictionary);
  std::vector<std::pair<std::string, int64_t>> lines;
  for (size_t stack = 0; stack < sums.size(); ++stack) {
    if (sums[stack] == 0) continue;
    lines.emplace_back(stack_text(batch.dictionary.stacks[StackId(stack)], frames), sums[stack]);
  }
  std::ranges::sort(lines);

  std::string out;
  bool reads_as_two_columns = !lines.empty();
  for (size_t at = 0; at < lines.size();) {
    const std::string& text = lines[at].first;
    int64_t sum = 0;
    size_t end = at;
    for (; end < lines.size() && lines[end].first == text; ++end) {
      sum = saturating_add(sum, lines[end].second);
    }
    if (sum != 0) {
      fmt::format_to(std::back_inserter(out), "{} {}\n", text, sum);
      reads_as_two_columns = reads_as_two_columns && ends_in_number(text);
    }
    at = end;
  }
  // When every leaf's name ends in a number ("worker 7"), the file would pass for a differential
  // one with two counts per line; a line that counts nothing prevents that.
  if (reads_as_two_columns && !out.empty()) out += "[unknown] 0\n";
  return out;
}

}  // namespace vesta
