// adhocprofiles.v1.AdHocProfileService: files that people upload in Grafana to look at them. They
// are kept on disk, and opened as stores of their own when somebody looks.
#include <adhocprofiles/v1/adhocprofiles.pb.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/time.h"
#include "formats/otlp/base64.h"
#include "reports/selection_tree.h"
#include "server/files/file_shelf.h"
#include "server/kept/kept_files.h"
#include "server/pyroscope/flamebearer_json.h"
#include "server/pyroscope/query_api.h"
#include "server/pyroscope/request_fields.h"
#include "server/pyroscope/rpc_method.h"

namespace vesta::server {
namespace {

using adhocprofiles::v1::AdHocProfilesDiffRequest;
using adhocprofiles::v1::AdHocProfilesDiffResponse;
using adhocprofiles::v1::AdHocProfilesGetRequest;
using adhocprofiles::v1::AdHocProfilesGetResponse;
using adhocprofiles::v1::AdHocProfilesListRequest;
using adhocprofiles::v1::AdHocProfilesListResponse;
using adhocprofiles::v1::AdHocProfilesUploadRequest;

template <class Request>
Result<size_t> max_nodes_of(const Request& request, const QueryApi& api) {
  return read_max_nodes(request.has_max_nodes() ? std::optional(request.max_nodes()) : std::nullopt,
                        api.options);
}

// What clients call the types of a file: "cpu"; the whole id where two share a name.
std::vector<std::string> type_names(const OpenedFile& file) {
  std::vector<std::string> names;
  for (const FileType& type : file.types) {
    const auto same = std::ranges::count_if(file.types, [&](const FileType& other) {
      return other.type.sample_type == type.type.sample_type;
    });
    names.push_back(same == 1 ? type.type.sample_type : type.type.id());
  }
  return names;
}

// The place of a type in a file; the first for none.
Result<size_t> find_type(const OpenedFile& file, std::string_view name) {
  if (name.empty()) return size_t{0};
  const std::vector<std::string> names = type_names(file);
  for (size_t at = 0; at < names.size(); ++at) {
    if (names[at] == name || file.types[at].type.id() == name) return at;
  }
  return Error{ErrorCode::kUsage, fmt::format("the file has no profile type '{}'", name),
               "use one of profile_types"};
}

Result<Selection> selection_of(const QueryApi& api, const OpenedFile& file, const ProfileType& type,
                               const Caller& caller) {
  SelectRequest request;
  request.type = type;
  request.range = file.range;
  request.budget = budget_of(api.options, caller);
  VESTA_ASSIGN(auto selections, file.engine->select(caller.tenant, request));
  if (selections.empty()) return Error{ErrorCode::kIo, "cannot query the file", ""};
  return std::move(selections[0]);
}

// A file that was uploaded, opened.
Result<FileShelf::File> open_upload(const QueryApi& api, const KeptFile& upload,
                                    const Caller& caller) {
  if (auto open = api.options.files->find(caller.tenant, upload.id)) return open;
  VESTA_ASSIGN(const std::string bytes, api.options.uploads->read(caller.tenant, upload.id));
  return api.options.files->open(caller.tenant, upload.note, bytes);
}

Result<AdHocProfilesGetResponse> shown(const QueryApi& api, const KeptFile& upload,
                                       const OpenedFile& file, std::string_view type_name,
                                       size_t max_nodes, const Caller& caller) {
  VESTA_ASSIGN(const size_t at, find_type(file, type_name));
  const ProfileType& type = file.types[at].type;
  VESTA_ASSIGN(const Selection selection, selection_of(api, file, type, caller));
  Flamebearer flame;
  flame.type = type;
  flame.bars = to_flame_bars(build_flame_tree(selection, {}), max_nodes);
  flame.timeline = {file.range.start_ns / kSecond, 0, {}};
  AdHocProfilesGetResponse response;
  response.set_id(upload.id);
  response.set_name(upload.note);
  response.set_uploaded_at(upload.stored_ns / kMillisecond);
  const std::vector<std::string> names = type_names(file);
  response.set_profile_type(names[at]);
  for (const std::string& name : names) response.add_profile_types(name);
  response.set_flamebearer_profile(to_json(flame));
  return response;
}

Result<AdHocProfilesGetResponse> upload(const QueryApi& api,
                                        const AdHocProfilesUploadRequest& request,
                                        const Caller& caller) {
  VESTA_ASSIGN(const size_t max_nodes, max_nodes_of(request, api));
  const auto bytes = otlp::from_base64(request.profile());
  if (!bytes) {
    return Error{ErrorCode::kInvalidInput, "the profile is not valid base64",
                 "send the bytes of the file as base64 text"};
  }
  if (bytes->empty()) {
    return Error{ErrorCode::kInvalidInput, "the profile is empty", "send the bytes of a file"};
  }
  // Only what can be read is kept.
  VESTA_ASSIGN(const FileShelf::File file,
               api.options.files->open(caller.tenant, request.name(), *bytes));
  VESTA_ASSIGN(const KeptFile kept,
               api.options.uploads->put(caller.tenant, file->id, file->name, *bytes));
  return shown(api, kept, *file, "", max_nodes, caller);
}

Result<AdHocProfilesGetResponse> get(const QueryApi& api, const AdHocProfilesGetRequest& request,
                                     const Caller& caller) {
  VESTA_ASSIGN(const size_t max_nodes, max_nodes_of(request, api));
  VESTA_ASSIGN(const KeptFile kept, api.options.uploads->find(caller.tenant, request.id()));
  VESTA_ASSIGN(const FileShelf::File file, open_upload(api, kept, caller));
  return shown(api, kept, *file, request.profile_type(), max_nodes, caller);
}

Result<AdHocProfilesListResponse> list(const QueryApi& api, const AdHocProfilesListRequest&,
                                       const Caller& caller) {
  AdHocProfilesListResponse response;
  for (const KeptFile& kept : api.options.uploads->list(caller.tenant)) {
    auto* out = response.add_profiles();
    out->set_id(kept.id);
    out->set_name(kept.note);
    out->set_uploaded_at(kept.stored_ns / kMillisecond);
  }
  return response;
}

// Of a type that both files have.
Result<AdHocProfilesDiffResponse> diff_files(const QueryApi& api,
                                             const AdHocProfilesDiffRequest& request,
                                             const Caller& caller) {
  VESTA_ASSIGN(const size_t max_nodes, max_nodes_of(request, api));
  KeptFiles& uploads = *api.options.uploads;
  VESTA_ASSIGN(const KeptFile left_kept, uploads.find(caller.tenant, request.left_id()));
  VESTA_ASSIGN(const KeptFile right_kept, uploads.find(caller.tenant, request.right_id()));
  VESTA_ASSIGN(const FileShelf::File left, open_upload(api, left_kept, caller));
  VESTA_ASSIGN(const FileShelf::File right, open_upload(api, right_kept, caller));
  std::vector<std::string> common;
  const std::vector<std::string> of_right = type_names(*right);
  for (std::string& name : type_names(*left)) {
    if (std::ranges::find(of_right, name) != of_right.end()) common.push_back(std::move(name));
  }
  if (common.empty()) {
    return Error{ErrorCode::kUsage, "the two files have no profile type in common",
                 "compare files of the same kind"};
  }
  const std::string name = request.profile_type().empty() ? common[0] : request.profile_type();
  VESTA_ASSIGN(const size_t left_at, find_type(*left, name));
  VESTA_ASSIGN(const size_t right_at, find_type(*right, name));
  VESTA_ASSIGN(const Selection before, selection_of(api, *left, left->types[left_at].type, caller));
  VESTA_ASSIGN(const Selection after,
               selection_of(api, *right, right->types[right_at].type, caller));
  Flamebearer flame;
  flame.type = left->types[left_at].type;
  flame.bars =
      to_flame_bars(build_flame_tree(before, after, CompareScale::kAbsolute, {}), max_nodes);
  AdHocProfilesDiffResponse response;
  for (std::string& type : common) response.add_profile_types(std::move(type));
  response.set_flamebearer_profile(to_json(flame));
  return response;
}

template <class Request, class Response>
void add_method(Routes& routes, const QueryApiPtr& api, std::string_view name, Scope scope,
                Result<Response> (*handler)(const QueryApi&, const Request&, const Caller&)) {
  const bool is_on = api->options.uploads != nullptr && api->options.files != nullptr;
  routes.add(rpc_method<Request, Response>(
      "/adhocprofiles.v1.AdHocProfileService/" + std::string(name), scope,
      [api, handler, is_on](const Request& request, const Caller& caller) -> Result<Response> {
        if (is_on) return handler(*api, request, caller);
        return Error{ErrorCode::kUnsupported, "uploads are disabled",
                     "set server.uploads.bytes to enable them"};
      }));
}

}  // namespace

void add_adhoc_methods(Routes& routes, const QueryApiPtr& api) {
  add_method(routes, api, "Upload", Scope::kWrite, upload);
  add_method(routes, api, "Get", Scope::kRead, get);
  add_method(routes, api, "List", Scope::kRead, list);
  add_method(routes, api, "Diff", Scope::kRead, diff_files);
}

}  // namespace vesta::server
