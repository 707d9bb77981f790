// Which locations, lines and samples a report sees: focus, ignore, hide, show, show-from, and the
// frames that a profile asks to drop. Same rules as pprof, computed per location rather than per
// sample. Refers to the dictionary. Thread-safe after construction.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "profile/filter_expressions.h"
#include "profile/label_filter.h"

namespace vesta {

class FrameFilter {
 public:
  using Spelling = FilterExpressions::Spelling;
  static Result<FrameFilter> compile(const Dictionary& dictionary, const FrameFilters& filters,
                                     std::string_view drop_frames, std::string_view keep_frames,
                                     Spelling spelling = Spelling::kFlag);

  // False when apply() would leave every stack as it is.
  bool changes_stacks() const {
    return prunes_ || filters_names_ || show_from_count_ != 0 || prunes_from_;
  }
  // What is left of a stack, leaf first, in `kept`; false when the whole sample is out.
  bool apply(std::span<const LocationId> stack, std::vector<LocationId>& kept) const;
  bool filters_labels() const { return !tag_focus_.empty() || !tag_ignore_.empty(); }
  // False when the labels put the sample out. Labels of the resource count unless the sample has
  // its own of the same key. Runs regular expressions: ask once per pair.
  bool passes(LabelSetId labels, LabelSetId resource = {}) const;

  // The lines of a location that are left.
  std::span<const Line> lines(LocationId location) const {
    return changed_.empty() || place_of_[location.index()] == 0
               ? dictionary_->lines[location]
               : changed_[LocationId(place_of_[location.index()])];
  }

 private:
  class Matcher;
  explicit FrameFilter(const Dictionary& dictionary) : dictionary_(&dictionary) {}
  void prune_uninteresting(const RE2& drop, const RE2* keep);
  void filter_by_name(const FilterExpressions& expressions);
  void filter_show_from(const RE2& show_from, uint8_t bit);
  void filter_prune_from(const RE2& prune_from);
  void set_lines(LocationId location, std::span<const Line> lines);
  Status filter_by_label(const FrameFilters& filters, Spelling spelling);

  // Changed lines live in a table of their own; place_of_ says where, 0 = unchanged.
  struct ChangedLines {
    ListTable<LocationId, Line> table;
    bool empty() const { return table.size() == 1; }
    std::span<const Line> operator[](LocationId id) const { return table[id]; }
  };

  const Dictionary* dictionary_;
  ChangedLines changed_;
  std::vector<uint32_t> place_of_;
  enum Mark : uint8_t { kIgnored = 1, kHidden = 2, kPrune = 4, kPruneBeneath = 8, kPruneFrom = 16 };
  struct Marks {
    uint8_t marks = 0;
    uint8_t focused = 0;  // by expression
    uint8_t starts = 0;   // by expression of show-from
  };
  std::vector<Marks> marks_;  // per location
  std::vector<LabelFilter> tag_focus_;
  std::vector<LabelFilter> tag_ignore_;
  bool filters_names_ = false;
  uint8_t all_focused_ = 0;
  size_t show_from_count_ = 0;
  bool prunes_ = false;       // by the frames that the profile asks to drop
  bool prunes_from_ = false;  // by prune-from
};

}  // namespace vesta
