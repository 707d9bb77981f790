#include "profile/frame_filter.h"

#include <algorithm>

namespace vesta {
// Whether a regular expression is found in the names of a dictionary.
class FrameFilter::Matcher {
 public:
  Matcher(const Dictionary& dictionary, const RE2& regex)
      : dictionary_(dictionary), matches_(regex, dictionary.strings.size()) {}

  bool function(FunctionId id) {
    if (!id) return false;
    const Function& f = dictionary_.function(id);
    return text(f.name) || text(f.file);
  }
  bool mapping_of(LocationId location) {
    const MappingId id = dictionary_.location(location).mapping;
    return id && text(dictionary_.mapping(id).file);
  }
  bool location(LocationId id, std::span<const Line> lines) {
    return std::ranges::any_of(lines, [&](const Line& line) { return function(line.function); }) ||
           mapping_of(id);
  }

 private:
  bool text(StringId id) {
    return matches_(id.index(), [&] { return dictionary_.string(id); });
  }

  const Dictionary& dictionary_;
  KnownMatches matches_;
};

void FrameFilter::set_lines(LocationId location, std::span<const Line> lines) {
  place_of_[location.index()] = changed_.table.add(lines).value;
}

void FrameFilter::prune_uninteresting(const RE2& drop, const RE2* keep) {
  prunes_ = true;
  std::vector<uint8_t> known(dictionary_->functions.size());  // 0 not looked at, 1 no, 2 yes
  const auto is_dropped = [&](FunctionId id) {
    if (known[id.index()] == 0) {
      const std::string_view full = dictionary_->string(dictionary_->function(id).name);
      const std::string_view name = simplified_name(full);
      const re2::StringPiece piece(name.data(), name.size());
      const bool matches = !full.empty() && RE2::FullMatch(piece, drop) &&
                           (keep == nullptr || !RE2::FullMatch(piece, *keep));
      known[id.index()] = matches ? 2 : 1;
    }
    return known[id.index()] == 2;
  };
  for (size_t i = 1; i < dictionary_->locations.size(); ++i) {
    const LocationId location(i);
    const auto all = dictionary_->lines[location];
    for (size_t at = all.size(); at-- > 0;) {
      if (!is_dropped(all[at].function)) continue;
      marks_[i].marks |= kPruneBeneath;
      if (at + 1 == all.size()) {
        marks_[i].marks |= kPrune;
      } else {
        set_lines(location, all.subspan(at + 1));
      }
      break;
    }
  }
}

void FrameFilter::filter_by_name(const FilterExpressions& expressions) {
  filters_names_ = true;
  all_focused_ = all_bits(expressions.focus);
  const auto matchers = [&](const std::vector<FilterExpressions::Expression>& list) {
    std::vector<Matcher> out;
    out.reserve(list.size());
    for (const auto& expression : list) out.emplace_back(*dictionary_, *expression);
    return out;
  };
  const auto matcher = [&](const FilterExpressions::Expression& expression) {
    return expression ? Matcher(*dictionary_, *expression) : std::optional<Matcher>();
  };
  auto focused = matchers(expressions.focus);
  auto ignored = matcher(expressions.ignore);
  auto hidden = matcher(expressions.hide);
  auto shown = matchers(expressions.show);
  std::vector<Line> kept;
  for (size_t i = 1; i < dictionary_->locations.size(); ++i) {
    const LocationId location(i);
    Marks& mark = marks_[i];
    if (ignored && ignored->location(location, lines(location))) mark.marks |= kIgnored;
    for (size_t at = 0; at < focused.size(); ++at) {
      if (focused[at].location(location, lines(location))) mark.focused |= expression_bit(at);
    }
    if (hidden && hidden->location(location, lines(location))) {
      kept.clear();
      if (!hidden->mapping_of(location)) {
        for (const Line& line : lines(location)) {
          if (!hidden->function(line.function)) kept.push_back(line);
        }
      }
      set_lines(location, kept);
      if (kept.empty()) mark.marks |= kHidden;
    }
    for (Matcher& show : shown) {
      const auto all = lines(location);
      if (!show.mapping_of(location)) {
        kept.clear();
        for (const Line& line : all) {
          // A line without a function has no name that could fail to match; pprof keeps it.
          if (!line.function || show.function(line.function)) kept.push_back(line);
        }
        if (kept.size() < all.size()) set_lines(location, kept);
      }
      if (lines(location).empty()) mark.marks |= kHidden;
    }
  }
}

void FrameFilter::filter_show_from(const RE2& show_from, uint8_t bit) {
  Matcher matcher(*dictionary_, show_from);
  for (size_t i = 1; i < dictionary_->locations.size(); ++i) {
    const LocationId location(i);
    if (matcher.mapping_of(location)) {
      marks_[i].starts |= bit;
      continue;
    }
    const auto all = lines(location);
    for (size_t at = all.size(); at-- > 0;) {
      if (!matcher.function(all[at].function)) continue;
      marks_[i].starts |= bit;
      if (at + 1 < all.size()) set_lines(location, all.first(at + 1));
      break;
    }
  }
}

void FrameFilter::filter_prune_from(const RE2& prune_from) {
  prunes_from_ = true;
  KnownMatches matches(prune_from, dictionary_->strings.size());
  for (size_t i = 1; i < dictionary_->locations.size(); ++i) {
    const LocationId location(i);
    const auto all = lines(location);
    for (size_t at = 0; at < all.size(); ++at) {
      const StringId name = dictionary_->function(all[at].function).name;
      const auto text = [&] { return simplified_name(dictionary_->string(name)); };
      if (text().empty() || !matches(name.index(), text)) continue;
      marks_[i].marks |= kPruneFrom;
      if (at > 0) set_lines(location, all.subspan(at));
      break;
    }
  }
}

Status FrameFilter::filter_by_label(const FrameFilters& filters, Spelling spelling) {
  const auto compile = [&](const std::vector<std::string>& expressions, std::string_view option,
                           std::vector<LabelFilter>& out) -> Status {
    for (const std::string& expression : expressions) {
      if (expression.empty()) continue;
      VESTA_ASSIGN(LabelFilter filter, LabelFilter::compile(expression, option));
      filter.infer_units(*dictionary_);
      out.push_back(std::move(filter));
    }
    return {};
  };
  VESTA_TRY(
      compile(filters.tag_focus, FilterExpressions::spelt("tag_focus", spelling), tag_focus_));
  VESTA_TRY(
      compile(filters.tag_ignore, FilterExpressions::spelt("tag_ignore", spelling), tag_ignore_));
  return {};
}

bool FrameFilter::passes(LabelSetId labels, LabelSetId resource) const {
  if (!filters_labels()) return true;
  std::span<const Label> all = dictionary_->label_sets[labels];
  std::vector<Label> both;
  if (resource) {
    both.assign(all.begin(), all.end());
    for (const Label& label : dictionary_->label_sets[resource]) {
      const auto same_key = [&](const Label& own) {
        return dictionary_->string(own.key) == dictionary_->string(label.key);
      };
      if (std::ranges::none_of(all, same_key)) both.push_back(label);
    }
    all = both;
  }
  const auto matches = [&](const LabelFilter& filter) { return filter.matches(*dictionary_, all); };
  return std::ranges::all_of(tag_focus_, matches) && std::ranges::none_of(tag_ignore_, matches);
}

Result<FrameFilter> FrameFilter::compile(const Dictionary& dictionary, const FrameFilters& filters,
                                         std::string_view drop_frames, std::string_view keep_frames,
                                         Spelling spelling) {
  FrameFilter filter(dictionary);
  VESTA_ASSIGN(const auto expressions, FilterExpressions::compile(filters, spelling));
  filter.marks_.resize(dictionary.locations.size());
  filter.place_of_.resize(dictionary.locations.size());
  if (!drop_frames.empty()) {
    // These come with the profile: one that RE2 does not understand must not make the profile
    // unreadable.
    const auto drop = compile_regex(drop_frames, "drop_frames");
    const auto keep = compile_regex(keep_frames, "keep_frames");
    if (drop.ok() && keep.ok())
      filter.prune_uninteresting(**drop, keep_frames.empty() ? nullptr : keep->get());
  }
  if (expressions.by_name()) filter.filter_by_name(expressions);
  filter.show_from_count_ = expressions.show_from.size();
  for (size_t at = 0; at < filter.show_from_count_; ++at)
    filter.filter_show_from(*expressions.show_from[at], expression_bit(at));
  VESTA_TRY(filter.filter_by_label(filters, spelling));
  if (expressions.prune_from) filter.filter_prune_from(*expressions.prune_from);
  return filter;
}

bool FrameFilter::apply(std::span<const LocationId> stack, std::vector<LocationId>& kept) const {
  kept.assign(stack.begin(), stack.end());
  if (prunes_) {
    // From the root to the leaf; frames before the first one of the program itself stay, so that
    // something is left.
    bool found_user = false;
    for (size_t i = kept.size(); i-- > 0;) {
      const uint8_t mark = marks_[kept[i].index()].marks;
      if ((mark & (kPrune | kPruneBeneath)) == 0) {
        found_user = true;
      } else if (found_user) {
        kept.erase(kept.begin(),
                   kept.begin() + static_cast<ptrdiff_t>((mark & kPrune) != 0 ? i + 1 : i));
        break;
      }
    }
  }
  if (filters_names_) {
    uint8_t focused = 0;
    for (const LocationId location : kept) {
      const Marks& mark = marks_[location.index()];
      if ((mark.marks & kIgnored) != 0) return false;
      focused |= mark.focused;
    }
    if (focused != all_focused_) return false;
    std::erase_if(
        kept, [&](LocationId location) { return (marks_[location.index()].marks & kHidden) != 0; });
    if (kept.empty()) return false;
  }
  for (size_t at = 0; at < show_from_count_; ++at) {
    size_t length = kept.size();
    while (length > 0 && (marks_[kept[length - 1].index()].starts >> at & 1U) == 0) --length;
    if (length == 0) return false;
    kept.resize(length);
  }
  if (prunes_from_) {
    const auto from = std::ranges::find_if(kept, [&](LocationId location) {
      return (marks_[location.index()].marks & kPruneFrom) != 0;
    });
    if (from != kept.end()) kept.erase(kept.begin(), from);
  }
  return true;
}

}  // namespace vesta
