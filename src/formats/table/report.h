// The reports, each as text for people, JSON for programs and CSV for spreadsheets. Pure functions
// from a profile to a string. Nothing is cut silently: what a limit left out is said in the last
// line, or in "cut".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/table/text_style.h"
#include "profile/call_graph.h"
#include "profile/call_tree.h"
#include "profile/diff.h"
#include "profile/label_summary.h"
#include "profile/source_lines.h"
#include "profile/top_table.h"

namespace vesta {

enum class ReportFormat { kText, kJson, kCsv };

struct ReportOptions {
  ReportFormat format = ReportFormat::kText;
  TextStyle style;
  std::string unit;            // to print values in; empty = fitting
  size_t max_rows = 0;         // 0 = all
  double min_share = 0;        // of the total; smaller rows are left out (and counted)
  double min_edge_share = 0;   // of the total; smaller calls are left out of the call graph
  bool drop_negative = false;  // leave out (and count) rows with a negative value
};

// What `vesta top` prints.
std::string top_report(const FrameProfile& profile, TopOrder order, const ReportOptions& options);

// Each function with its callers above and its callees below; only those in `only` when it is not
// empty.
std::string graph_report(const FrameProfile& profile, const CallGraph& graph,
                         const std::vector<FrameId>& only, const ReportOptions& options);

// Every stack with its weight and labels.
std::string traces_report(const FrameProfile& profile, const ReportOptions& options);

// The call tree as an indented text with bars. A bottom-up tree shows no self weights: there, they
// belong to the first level.
std::string tree_report(const FrameProfile& profile, const CallTree& tree, TreeDirection direction,
                        const ReportOptions& options);

// Source code with the weight of each line. `sources` has the text of each function's file, empty
// where it is not at hand.
std::string list_report(const MergedProfile& profile, const std::vector<FunctionLines>& functions,
                        const std::vector<std::string>& sources, const ReportOptions& options);

std::string labels_report(const MergedProfile& profile, const std::vector<LabelKey>& keys,
                          const ReportOptions& options);

std::string types_report(const std::vector<TypeInfo>& types, const ReportOptions& options);

enum class DiffOrder { kAbsolute, kRelative };
// `by` is what the rows are sorted by: where not all fit, those that changed most in it stay.
std::string diff_report(const FrameProfile& profile, const std::vector<DiffRow>& rows,
                        DiffOrder order, const ReportOptions& options,
                        TopOrder by = TopOrder::kByFlat);

}  // namespace vesta
