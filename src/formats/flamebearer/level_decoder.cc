#include "formats/flamebearer/level_decoder.h"

#include <fmt/format.h>

#include "formats/common/parse_error.h"

namespace vesta {

Status LevelDecoder::add_level(std::span<const int64_t> numbers, std::vector<Own>& done) {
  done.clear();
  end_ = {};
  std::vector<Bar> bars;
  size_t parent = 0;
  for (size_t first = 0; first < numbers.size(); first += values_per_bar()) {
    Bar bar;
    VESTA_TRY(read_bar(numbers, first, bar));
    VESTA_TRY(place(bar, first, parent));
    bars.push_back(bar);
  }
  VESTA_TRY(finish_last_level(done));
  if (level_ == 0 && !bars.empty()) {
    for (size_t side = 0; side < sides_; ++side) {
      totals_[side] = bars[0].end[side] - bars[0].begin[side];
    }
  }
  last_level_ = std::move(bars);
  ++level_;
  return {};
}

// Per side: distance from the end of the bar before, total, self; then the name.
Status LevelDecoder::read_bar(std::span<const int64_t> numbers, size_t first, Bar& bar) {
  for (size_t side = 0; side < sides_; ++side) {
    const size_t at = first + side * 3;
    const int64_t distance = numbers[at];
    const int64_t total = numbers[at + 1];
    bar.self[side] = numbers[at + 2];
    if (distance < 0) return error_at(at, "negative offset");
    if (total < 0) return error_at(at + 1, "negative total");
    if (bar.self[side] < 0) return error_at(at + 2, "negative self value");
    if (bar.self[side] > total) return error_at(at + 2, "self value larger than the total");
    if (__builtin_add_overflow(end_[side], distance, &bar.begin[side]) ||
        __builtin_add_overflow(bar.begin[side], total, &bar.end[side])) {
      return error_at(at, "the offsets overflow 64 bits");
    }
    end_[side] = bar.end[side];
  }
  const size_t at = first + sides_ * 3;
  if (numbers[at] < 0 || static_cast<uint64_t>(numbers[at]) >= name_count_) {
    return error_at(
        at, fmt::format("{} is not the index of one of the {} names", numbers[at], name_count_));
  }
  if (nodes_.size() == kNoNode) return error_at(first, "too many bars");
  bar.node = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({kNoNode, static_cast<uint32_t>(numbers[at])});
  return {};
}

// Bars of both levels run left to right, so the search for parents does too.
Status LevelDecoder::place(Bar& bar, size_t first, size_t& parent) {
  if (level_ == 0) {
    if (bar.node != 0) return error_at(first, "the first level must hold one bar, the total");
    return {};
  }
  const auto ends_beyond = [&](const Bar& above) {
    for (size_t side = 0; side < sides_; ++side) {
      if (bar.end[side] > above.end[side]) return true;
    }
    return false;
  };
  while (parent < last_level_.size() && ends_beyond(last_level_[parent])) ++parent;
  if (parent == last_level_.size()) {
    return error_at(first, "the bar lies outside all bars of the level above");
  }
  Bar& above = last_level_[parent];
  for (size_t side = 0; side < sides_; ++side) {
    if (bar.begin[side] < above.begin[side]) {
      return error_at(first + side * 3, "the bar does not lie inside one bar of the level above");
    }
    // Cannot overflow: siblings do not overlap and lie inside their parent.
    above.children[side] += bar.end[side] - bar.begin[side];
  }
  nodes_[bar.node].parent = above.node;
  return {};
}

Status LevelDecoder::finish_last_level(std::vector<Own>& done) const {
  for (size_t index = 0; index < last_level_.size(); ++index) {
    const Bar& bar = last_level_[index];
    Own own;
    own.node = bar.node;
    own.self = bar.self;
    for (size_t side = 0; side < sides_; ++side) {
      own.cut[side] = bar.end[side] - bar.begin[side] - bar.children[side] - bar.self[side];
      if (own.cut[side] < 0) {
        return parse_error_at_field("flamebearer",
                                    fmt::format("flamebearer.levels[{}][{}]", level_ - 1,
                                                index * values_per_bar() + side * 3 + 2),
                                    "self value and children together are larger than the total");
      }
    }
    done.push_back(own);
  }
  return {};
}

Error LevelDecoder::error_at(size_t index, std::string_view what) const {
  return parse_error_at_field("flamebearer",
                              fmt::format("flamebearer.levels[{}][{}]", level_, index), what,
                              "the file may be damaged, or its metadata.format may be wrong");
}

}  // namespace vesta
