// The reports, each as text for people, JSON for programs and CSV for spreadsheets. Pure functions
// from a profile to a string. Nothing is cut silently: what a limit left out is said in the last
// line, or in "cut".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "profile/flame_tree.h"
#include "profile/report_header.h"
#include "reports/call_graph.h"
#include "reports/diff.h"
#include "reports/label_summary.h"
#include "reports/print/text_style.h"
#include "reports/source_lines.h"

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

// That of the profile, with what the format shows.
ReportHeader header_for(const FrameProfile& profile, const ReportOptions& options);
// Which rows of a table the options ask for.
RowChoice choice_of(TopOrder order, const ReportOptions& options);

// What `vesta top` prints: all rows of the table. The second chooses them.
std::string top_report(const ReportHeader& header, const FunctionTable& table,
                       const ReportOptions& options);
std::string top_report(const FrameProfile& profile, TopOrder order, const ReportOptions& options);
// "rows" and "cut", as members of the object that is open.
void write_top_rows(JsonWriter& json, const FunctionTable& table);

// Each function with its callers above and its callees below; with `only`, those whose text it
// matches.
std::string graph_report(const ReportHeader& header, const CallGraph& graph, const re2::RE2* only,
                         const ReportOptions& options);

// "rows" and "cut", as members of the object that is open.
void write_graph_rows(JsonWriter& json, const ReportHeader& header, const CallGraph& graph,
                      const re2::RE2* only, const ReportOptions& options);

// Every stack with its weight and labels.
std::string traces_report(const ReportHeader& header, const FrameProfile& profile,
                          const ReportOptions& options);
// "traces" and "cut", as members of the object that is open. Shares are of the total.
void write_traces(JsonWriter& json, const FrameProfile& profile, int64_t total,
                  const ReportOptions& options);

// By node of a tree, whether it is shown: the heaviest, as many as the options ask for. A child is
// never heavier than its parent, so that the choice is closed upwards.
std::vector<uint8_t> heaviest_nodes(const FlameTree& tree, const ReportOptions& options);

// The call tree as an indented text with bars. A bottom-up tree shows no self weights: there, they
// belong to the first level.
std::string tree_report(const ReportHeader& header, const FlameTree& tree,
                        const std::vector<uint8_t>& shown, TreeDirection direction,
                        const ReportOptions& options);

// Source code with the weight of each line. `sources` has the text of each function's file, empty
// where it is not at hand.
std::string list_report(const ReportHeader& header, const std::vector<FunctionLines>& functions,
                        const std::vector<std::string>& sources, const ReportOptions& options);
// "functions" and "cut", as members of the object that is open.
void write_functions(JsonWriter& json, const std::vector<FunctionLines>& functions,
                     const std::vector<std::string>& sources, int64_t total,
                     const ReportOptions& options);

std::string labels_report(const ReportHeader& header, const std::vector<LabelKey>& keys,
                          const ReportOptions& options);
// "labels", as a member of the object that is open.
void write_label_keys(JsonWriter& json, const std::vector<LabelKey>& keys, int64_t total,
                      const ReportOptions& options);

std::string types_report(const std::vector<TypeInfo>& types, const ReportOptions& options);

// All rows of the table.
std::string diff_report(const ReportHeader& header, const FunctionTable& table,
                        const ReportOptions& options);
// "rows" and "cut", as members of the object that is open.
void write_diff_rows(JsonWriter& json, const FunctionTable& table);

}  // namespace vesta
