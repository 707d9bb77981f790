// What changes the store: deleting series, making backups.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/json_writer.h"
#include "server/api.h"
#include "server/native/question.h"

namespace vesta::server {
namespace {

// What is deleted is gone: no default decides how much that is.
Status check_explicit_range(const ApiCall& call) {
  const std::string_view all_time = call.parameter("all_time");
  const bool has_from = !call.parameter("from").empty();
  const bool has_to = !call.parameter("to").empty();
  if (!all_time.empty() && all_time != "true" && all_time != "false") {
    return Error{ErrorCode::kUsage, fmt::format("all_time: '{}' must be true or false", all_time),
                 ""};
  }
  if (all_time == "true" && (has_from || has_to)) {
    return Error{ErrorCode::kUsage, "cannot combine all_time=true with a range",
                 "send one of them"};
  }
  if (all_time != "true" && (!has_from || !has_to)) {
    return Error{ErrorCode::kUsage, "the range to delete is incomplete",
                 "send from and to, or all_time=true for everything"};
  }
  return {};
}

Result<HttpResponse> delete_series(const ApiCall& call) {
  if (call.parameter("query").empty()) {
    return Error{ErrorCode::kUsage, "the parameter 'query' is missing",
                 "send what to delete; query={} selects everything"};
  }
  VESTA_TRY(check_explicit_range(call));
  VESTA_ASSIGN(const auto question, read_series_question(call, true));
  VESTA_ASSIGN(const uint64_t series,
               call.engine().remove(call.caller.tenant, question.selector, question.range));
  JsonWriter json;
  json.begin_object().field("series", series);
  return json_response(json.end_object().take());
}

// One component of a path, visible and plain.
bool is_plain_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= 128 && name.front() != '.' &&
         std::ranges::all_of(name, is_plain);
}

Result<HttpResponse> backup(const ApiCall& call) {
  const std::string& root = call.context.options.backup_root;
  if (root.empty()) {
    return Error{ErrorCode::kUnsupported, "backups are disabled", "set server.backups"};
  }
  const std::string_view name = call.parameter("name");
  if (!is_plain_name(name)) {
    return Error{ErrorCode::kUsage, fmt::format("name: '{}' is not a valid backup name", name),
                 "use letters, digits, '-', '_' and '.', but no '.' first"};
  }
  const std::filesystem::path directory = std::filesystem::path(root) / name;
  std::error_code error;
  if (std::filesystem::is_symlink(directory, error)) {
    return Error{ErrorCode::kPermission, fmt::format("the backup '{}' is a symbolic link", name),
                 ""};
  }
  if (const Status made = call.engine().backup(directory.string()); !made.ok()) {
    // Not too many requests, but two that want the same thing.
    if (made.error().code == ErrorCode::kTooMany) return error_response(made.error(), 409);
    return made.error();
  }
  JsonWriter json;
  json.begin_object().field("name", name);
  return json_response(json.end_object().take());
}

}  // namespace

std::span<const ApiRoute> admin_routes() {
  static const std::array kRoutes = {
      ApiRoute{
          "DELETE", "/api/v1/series", Scope::kAdmin, {"query from to all_time"}, delete_series},
      ApiRoute{"POST", "/api/v1/backup", Scope::kAdmin, {"name"}, backup},
  };
  return kRoutes;
}

}  // namespace vesta::server
