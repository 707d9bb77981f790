#include "reports/function_changes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "analysis/significance.h"
#include "reports/answer_basis.h"

namespace vesta {
namespace {

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
  return {.before = effective_samples(before), .after = effective_samples(after)};
}

void test_changes(FunctionTable& table, const ComparedSamples& samples) {
  if (!samples.known() || table.whole == 0 || table.baseline_whole == 0) return;
  table.tells_chance = true;
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

std::string_view significance_word(const FunctionTable& table) {
  return table.tells_chance ? "known" : "unknown";
}

double relative_change(int64_t before, int64_t delta) {
  if (before == 0) return delta == 0 ? 0 : std::numeric_limits<double>::infinity();
  return static_cast<double>(delta) / std::fabs(static_cast<double>(before));
}

void choose_changes(FunctionTable& table, ChangeOrder order, size_t limit, double min_share) {
  std::vector<FunctionRow>& rows = table.rows;
  const bool by_cum = order == ChangeOrder::kCum;
  const auto changes = [by_cum](const FunctionRow& row) {
    return by_cum ? std::pair(row.cum_delta(), saturating_abs(row.flat_delta()))
                  : std::pair(row.flat_delta(), saturating_abs(row.cum_delta()));
  };
  std::ranges::sort(rows, [&](const FunctionRow& a, const FunctionRow& b) {
    const auto left = changes(a);
    const auto right = changes(b);
    if (left.first != right.first) return left.first > right.first;
    if (const int by_name = table.names->compare(a.name, b.name); by_name != 0) return by_name < 0;
    return left.second != right.second ? left.second > right.second : a.name < b.name;
  });
  const auto change = [&](const FunctionRow& row) {
    return order == ChangeOrder::kRelative ? relative_change(row.baseline_flat, row.flat_delta())
                                           : static_cast<double>(changes(row).first);
  };
  if (order == ChangeOrder::kRelative)
    std::ranges::stable_sort(rows, std::ranges::greater(), change);
  std::vector<size_t> by_size(rows.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::ranges::stable_sort(by_size, std::ranges::greater(),
                           [&](size_t at) { return std::fabs(change(rows[at])); });
  const double least = min_share * static_cast<double>(std::max(table.whole, table.baseline_whole));
  std::vector<size_t> chosen;
  for (const size_t at : by_size) {
    const FunctionRow& row = rows[at];
    const int64_t weight = std::max(saturating_abs(row.cum), saturating_abs(row.baseline_cum));
    if ((limit == 0 || chosen.size() < limit) && static_cast<double>(weight) >= least) {
      chosen.push_back(at);
      continue;
    }
    ++table.cut_rows;
    table.cut_flat_delta = saturating_add(table.cut_flat_delta, row.flat_delta());
  }
  std::ranges::sort(chosen);
  std::vector<FunctionRow> left;
  left.reserve(chosen.size());
  for (const size_t at : chosen) left.push_back(rows[at]);
  rows = std::move(left);
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
