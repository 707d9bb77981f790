#include "query/function_changes.h"

#include "analysis/significance.h"
#include "profile/effective_samples.h"

namespace vesta {
namespace {

uint64_t samples_of(const Selection& selection) {
  const ProfileType& type = selection.type;
  return effective_samples({type.sample_type, type.sample_unit, type.period_type, type.period_unit,
                            selection.period, selection.total});
}

// How many of the samples are of the part.
double samples_in(int64_t part, int64_t whole, uint64_t samples) {
  return static_cast<double>(part) / static_cast<double>(whole) * static_cast<double>(samples);
}

}  // namespace

RowChange change_of(const FunctionRow& row) {
  if (row.baseline_flat == 0 && row.baseline_cum == 0) return RowChange::kNew;
  if (row.flat == 0 && row.cum == 0) return RowChange::kRemoved;
  const bool is_same = row.flat == row.baseline_flat && row.cum == row.baseline_cum;
  return is_same ? RowChange::kSame : RowChange::kChanged;
}

std::string_view change_word(RowChange change) {
  switch (change) {
    case RowChange::kSame:
      return "same";
    case RowChange::kChanged:
      return "changed";
    case RowChange::kNew:
      return "new";
    case RowChange::kRemoved:
      return "removed";
  }
  return "";
}

ComparedSamples compared_samples(const Selection& before, const Selection& after) {
  return {.before = samples_of(before), .after = samples_of(after)};
}

void test_changes(FunctionTable& table, const ComparedSamples& samples) {
  if (!samples.known() || table.whole == 0 || table.baseline_whole == 0) return;
  const bool by_rate = samples.before_ns > 0 && samples.after_ns > 0;
  const auto test = [&](int64_t before, int64_t after) {
    const double in_before = samples_in(before, table.baseline_whole, samples.before);
    const double in_after = samples_in(after, table.whole, samples.after);
    if (by_rate) {
      return rate_change_p_value({in_before, static_cast<double>(samples.before_ns), in_after,
                                  static_cast<double>(samples.after_ns)});
    }
    return share_change_p_value({in_before, static_cast<double>(samples.before), in_after,
                                 static_cast<double>(samples.after)});
  };
  std::vector<double> p_values;
  p_values.reserve(table.rows.size());
  for (const FunctionRow& row : table.rows) {
    const double of_cum = test(row.baseline_cum, row.cum);
    const bool is_leaf = row.flat == row.cum && row.baseline_flat == row.baseline_cum;
    p_values.push_back(is_leaf ? of_cum
                               : either_p_value(test(row.baseline_flat, row.flat), of_cum));
  }
  const std::vector<double> corrected = q_values(p_values);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].p_value = p_values[i];
    table.rows[i].q_value = corrected[i];
  }
}

void keep_changes(FunctionTable& table, std::string_view word) {
  const auto keep = [&](auto&& wanted) {
    std::erase_if(table.rows, [&](const FunctionRow& row) { return !wanted(row); });
  };
  if (word == "significant")
    keep([](const FunctionRow& row) { return row.q_value < kSignificantQ; });
  for (const RowChange change : {RowChange::kNew, RowChange::kRemoved, RowChange::kChanged}) {
    if (word == change_word(change))
      keep([change](const FunctionRow& row) { return change_of(row) == change; });
  }
}

}  // namespace vesta
