// The routes of the native API as a table, so that tests can hold it against openapi.json.
// Constants.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "server/files/file_shelf.h"
#include "server/native/native_api.h"

namespace vesta::server {

struct ApiContext {
  Engine& engine;
  NativeApiOptions options;

  // The file of that id that the tenant has open; null for no id: the store is meant.
  Result<FileShelf::File> find_file(std::string_view tenant, std::string_view id) const;
  Engine& engine_of(const FileShelf::File& file) const { return file ? *file->engine : engine; }

  int64_t now_ns() const;
  QueryBudget budget() const;
};

struct ApiCall {
  const ApiContext& context;
  const HttpRequest& request;
  const Caller& caller;
  FileShelf::File file = {};  // that the parameter `file` names; null = the store is asked

  // Of the file or the store. The baseline of a comparison has its own (Question::file).
  Engine& engine() const { return context.engine_of(file); }
  std::string_view parameter(std::string_view name) const { return request.parameter(name); }
};

using ApiHandler = Result<HttpResponse> (*)(const ApiCall&);

struct ApiRoute {
  std::string_view method;
  std::string_view path;
  Scope scope = Scope::kRead;
  // Names of all query parameters, groups of them joined by spaces. Any other is refused, so that a
  // misspelt filter does not go unnoticed.
  std::vector<std::string_view> parameters;
  ApiHandler handler = nullptr;
};

inline ApiRoute get_route(std::string_view path, std::vector<std::string_view> parameters,
                          ApiHandler handler) {
  return {"GET", path, Scope::kRead, std::move(parameters), handler};
}

// Parameters that many routes share.
inline constexpr std::string_view kSeriesParameters = "query from to file";
inline constexpr std::string_view kBaselineParameters =
    "baseline_query baseline_from baseline_to baseline_file baseline_value_min baseline_value_max "
    "baseline_rate_min baseline_rate_max baseline_sample_from baseline_sample_to";
inline constexpr std::string_view kSampleParameters =
    "profile_id trace_id span_id sample_labels value_min value_max rate_min rate_max sample_from "
    "sample_to";
// All that choose samples of a selection.
inline constexpr std::string_view kSelectionParameters =
    "query from to file profile_id trace_id span_id sample_labels value_min value_max rate_min "
    "rate_max sample_from sample_to tag_focus tag_ignore";
inline constexpr std::string_view kLabelFrameParameters = "tag_root tag_leaf";
inline constexpr std::string_view kStackParameters = "focus ignore hide show show_from prune_from";
// Of reports that are answered as JSON, text and CSV.
inline constexpr std::string_view kReportParameters =
    "group inlines relative format unit min_share color";

std::span<const ApiRoute> list_routes();
std::span<const ApiRoute> tree_routes();
std::span<const ApiRoute> table_routes();
std::span<const ApiRoute> time_routes();
std::span<const ApiRoute> export_routes();
std::span<const ApiRoute> admin_routes();
std::span<const ApiRoute> overview_routes();
std::span<const ApiRoute> agent_routes();
std::span<const ApiRoute> source_routes();
std::span<const ApiRoute> sample_routes();
std::span<const ApiRoute> file_routes();
std::vector<const ApiRoute*> all_routes();

// One by one.
std::vector<std::string> parameter_names(const ApiRoute& route);

}  // namespace vesta::server
