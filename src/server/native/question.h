// What a request asks for, read from its parameters and checked. Plain functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profile/frame_profile.h"
#include "profile/profile.h"
#include "reports/selection_tree.h"
#include "server/native/route_table.h"

namespace vesta::server {

struct Question {
  ProfileType type;
  Selector selector;
  TimeRange range;
  FileShelf::File file = {};  // what is asked; null = the store
  // Before the names of parameters that choose a region of a heat map: each side has its own.
  std::string_view region_prefix = {};
};

// From `query`, `from` and `to`, or those with a prefix ("baseline_"). kUsage with the column when
// the selector is wrong; kNoData when no series match and the type is not spelt out. Of a file,
// `query` may be empty: its first type; without times, all of it is meant.
Result<Question> read_question(const ApiCall& call);
// The two sides of a comparison. Where the baseline does not say something, the other does, but for
// the file: without `baseline_file` it is the store. One of them may have no data.
struct Comparison {
  Question question;
  Question baseline;
};
Result<Comparison> read_comparison(const ApiCall& call);

// The same for lists: without `query` everything is meant; a type in it is one more matcher.
struct SeriesQuestion {
  Selector selector;
  TimeRange range;
};
Result<SeriesQuestion> read_series_question(const ApiCall& call, bool all_time_by_default = false);

// `value_min` and `value_max`, behind the prefix; none without them.
Result<std::optional<ValueRange>> read_value_range(const ApiCall& call,
                                                   std::string_view prefix = "");
// `rate_min` and `rate_max` in the same way. kUsage when the type is one whose values are not added
// up over time.
Result<std::optional<RateRange>> read_rate_range(const ApiCall& call, const ProfileType& type,
                                                 std::string_view prefix = "");
// Asks the engine, with what `profile_id`, `trace_id`, `span_id`, `sample_labels`, `value_min`,
// `value_max`, `rate_min`, `rate_max`, `sample_from` and `sample_to` choose.
Result<SelectRequest> select_request(const ApiCall& call, const Question& question);
// All that they choose.
Result<Selection> select_all(const ApiCall& call, const Question& question);
// The same with the stacks of samples that pass `tag_focus` and `tag_ignore`, and with the frames
// that `tag_root` and `tag_leaf` make of labels; the total is of all.
Result<Selection> select(const ApiCall& call, const Question& question);
// Whether one of these is asked for.
bool asks_for_labels(const ApiCall& call);
// Those samples one by one, with their labels.
Result<ProfileBatch> select_samples(const ApiCall& call, const Question& question);

// `focus`, `ignore`, `hide`, `show`, `show_from`, `prune_from`.
FrameFilters read_filters(const ApiCall& call);
// `tag_focus`, `tag_ignore`; none without them.
std::optional<FrameFilters> read_label_filters(const ApiCall& call);
// The filters, `group`, `inlines` and `relative`.
Result<TreeOptions> read_tree_options(const ApiCall& call);

// A whole number; kUsage when it is none or above `most`.
Result<size_t> read_count(const ApiCall& call, std::string_view name, size_t otherwise,
                          size_t most);
// `nodes`, as the options bound it; 0 is the most there may be.
Result<size_t> read_nodes(const ApiCall& call);
Result<bool> read_flag(const ApiCall& call, std::string_view name);
// One of the words, joined by '|' ("flat|cum"); the first when it is not there.
Result<std::string> read_word(const ApiCall& call, std::string_view name, std::string_view words);

}  // namespace vesta::server
