// debuginfo.v1alpha1.DebuginfoService: executables with debug information, by build id. A client
// asks whether to upload, posts the bytes, and says that it has finished.
#include <debuginfo/v1alpha1/debuginfo.pb.h>
#include <fmt/format.h>
#include <parca/debuginfo/v1alpha1/debuginfo.pb.h>

#include <algorithm>
#include <map>

#include "base/hex.h"
#include "base/mutex.h"
#include "base/time.h"
#include "server/kept/kept_files.h"
#include "server/pyroscope/query_api.h"
#include "server/pyroscope/request_fields.h"
#include "server/pyroscope/rpc_method.h"

namespace vesta::server {
namespace {

using debuginfo::v1alpha1::FileMetadata;
using debuginfo::v1alpha1::ObjectMetadata;

// After that, somebody else may upload the same.
constexpr int64_t kUploadNs = 5 * kMinute;
// Promises of clients, not files: bounded, the earliest is forgotten.
constexpr size_t kMaxUploads = 1000;
constexpr size_t kMaxFileNameBytes = 1024;

Status check_build_id(std::string_view id) {
  const bool is_hex = std::ranges::all_of(id, [](char c) { return hex_digit(c) >= 0; });
  if (id.size() >= 2 && id.size() <= 40 && is_hex) return {};
  return Error{ErrorCode::kUsage, "the GNU build id is not valid",
               "send 2 to 40 hexadecimal digits"};
}

void set_time(int64_t ns, google::protobuf::Timestamp& to) {
  to.set_seconds(ns / kSecond);
  to.set_nanos(static_cast<int32_t>(ns % kSecond));
}
int64_t nanos_of(const google::protobuf::Timestamp& time) {
  return time.seconds() * kSecond + time.nanos();
}

// Thread-safe.
class DebugInfo {
 public:
  explicit DebugInfo(QueryApiPtr api) : api_(std::move(api)), files_(api_->options.debug_info) {}

  using ShouldRequest = debuginfo::v1alpha1::ShouldInitiateUploadRequest;
  using ShouldResponse = debuginfo::v1alpha1::ShouldInitiateUploadResponse;
  Result<ShouldResponse> should_upload(const ShouldRequest& request, const Caller& caller) {
    const FileMetadata& file = request.file();
    VESTA_TRY(check_build_id(file.gnu_build_id()));
    if (file.type() != FileMetadata::TYPE_EXECUTABLE_FULL &&
        file.type() != FileMetadata::TYPE_EXECUTABLE_NO_TEXT) {
      return Error{ErrorCode::kUsage, "the type of the file is not valid",
                   "send TYPE_EXECUTABLE_FULL or TYPE_EXECUTABLE_NO_TEXT"};
    }
    if (file.name().size() > kMaxFileNameBytes || file.go_build_id().size() > kMaxFileNameBytes ||
        file.otel_file_id().size() > kMaxFileNameBytes) {
      return Error{ErrorCode::kLimit, "the name of the file is too long",
                   fmt::format("send up to {} bytes", kMaxFileNameBytes)};
    }
    const auto answer = [](bool should, std::string reason) {
      ShouldResponse response;
      response.set_should_initiate_upload(should);
      response.set_reason(std::move(reason));
      return response;
    };
    if (files_ == nullptr) return answer(false, "DebugInfo upload disabled");
    if (files_->find(caller.tenant, file.gnu_build_id()))
      return answer(false, "debug information of this build id already exists");
    const int64_t now = api_->options.clock().ns;
    const MutexLock lock(mutex_);
    const auto [at, is_new] = uploads_.try_emplace({caller.tenant, file.gnu_build_id()});
    if (!is_new && now - nanos_of(at->second.started_at()) < kUploadNs)
      return answer(false, "another client is uploading this build id");
    *at->second.mutable_file() = file;
    set_time(now, *at->second.mutable_started_at());
    forget_earliest();
    return answer(true, "no debug information of this build id");
  }

  // The bytes. They count once they are here: a client that dies before it says so has still done
  // its part.
  HttpResponse upload(const HttpRequest& request, const Caller& caller) {
    const std::string id(request.path_field("gnu_build_id"));
    const auto fail = [](const Error& error) { return error_response(error); };
    if (files_ == nullptr) return fail(off());
    if (const Status status = check_build_id(id); !status.ok()) return fail(status.error());
    ObjectMetadata object;
    {
      const MutexLock lock(mutex_);
      const auto known = uploads_.find({caller.tenant, id});
      if (known == uploads_.end()) {
        return error_response(
            Error{ErrorCode::kUsage, "the upload of this build id was not announced",
                  "call ShouldInitiateUpload first"},
            412);
      }
      object = known->second;
    }
    if (!request.body.starts_with("\x7f"
                                  "ELF")) {
      return fail({ErrorCode::kInvalidInput, "the body is not an ELF file",
                   "send the executable or its debug file unchanged"});
    }
    object.set_state(ObjectMetadata::STATE_UPLOADED);
    object.set_size_bytes(static_cast<int64_t>(request.body.size()));
    set_time(api_->options.clock().ns, *object.mutable_finished_at());
    const auto kept = files_->put(caller.tenant, id, object.SerializeAsString(), request.body);
    if (!kept) return fail(kept.error());
    return json_response("{}");
  }

  using FinishedResponse = debuginfo::v1alpha1::UploadFinishedResponse;
  Result<FinishedResponse> finished(const debuginfo::v1alpha1::UploadFinishedRequest& request,
                                    const Caller& caller) {
    VESTA_TRY(check_build_id(request.gnu_build_id()));
    if (files_ == nullptr) return off();
    VESTA_TRY(files_->find(caller.tenant, request.gnu_build_id()));
    const MutexLock lock(mutex_);
    uploads_.erase({caller.tenant, request.gnu_build_id()});
    return FinishedResponse();
  }

  using ListResponse = debuginfo::v1alpha1::ListDebuginfoResponse;
  Result<ListResponse> list(const debuginfo::v1alpha1::ListDebuginfoRequest&,
                            const Caller& caller) {
    ListResponse response;
    if (files_ == nullptr) return response;
    for (const KeptFile& kept : files_->list(caller.tenant)) {
      if (!response.add_object()->ParseFromString(kept.note))
        return Error{ErrorCode::kIo, fmt::format("the record of {} is damaged", kept.id), ""};
    }
    return response;
  }

  using DeleteResponse = debuginfo::v1alpha1::DeleteDebuginfoResponse;
  Result<DeleteResponse> remove(const debuginfo::v1alpha1::DeleteDebuginfoRequest& request,
                                const Caller& caller) {
    VESTA_TRY(check_build_id(request.gnu_build_id()));
    if (files_ == nullptr) return off();
    {
      const MutexLock lock(mutex_);
      uploads_.erase({caller.tenant, request.gnu_build_id()});
    }
    const Status removed = files_->remove(caller.tenant, request.gnu_build_id());
    if (!removed.ok() && removed.error().code != ErrorCode::kNotFound) return removed.error();
    return DeleteResponse();
  }

 private:
  static Error off() {
    return Error{ErrorCode::kUnsupported, "storing debug information is disabled",
                 "set server.debug_info.bytes to enable it"};
  }
  void forget_earliest() REQUIRES(mutex_) {
    if (uploads_.size() <= kMaxUploads) return;
    uploads_.erase(std::ranges::min_element(
        uploads_, {}, [](const auto& upload) { return nanos_of(upload.second.started_at()); }));
  }

  const QueryApiPtr api_;
  KeptFiles* const files_;
  Mutex mutex_;
  std::map<std::pair<std::string, std::string>, ObjectMetadata> uploads_
      GUARDED_BY(mutex_);  // by tenant, build id
};

template <class Request, class Response>
void add_method(Routes& routes, const std::shared_ptr<DebugInfo>& info, std::string_view name,
                Scope scope,
                Result<Response> (DebugInfo::*handler)(const Request&, const Caller&)) {
  routes.add(rpc_method<Request, Response>(
      "/debuginfo.v1alpha1.DebuginfoService/" + std::string(name), scope,
      [info, handler](const Request& request, const Caller& caller) {
        return (info.get()->*handler)(request, caller);
      }));
}

}  // namespace

void add_debug_info_routes(Routes& routes, const QueryApiPtr& api) {
  const auto info = std::make_shared<DebugInfo>(api);
  add_method(routes, info, "ShouldInitiateUpload", Scope::kWrite, &DebugInfo::should_upload);
  add_method(routes, info, "UploadFinished", Scope::kWrite, &DebugInfo::finished);
  add_method(routes, info, "ListDebuginfo", Scope::kRead, &DebugInfo::list);
  add_method(routes, info, "DeleteDebuginfo", Scope::kWrite, &DebugInfo::remove);
  routes.add(HttpRoute{"POST", "/debuginfo.v1alpha1.DebuginfoService/Upload/{gnu_build_id}",
                       Scope::kWrite, [info](const HttpRequest& request, const Caller& caller) {
                         return info->upload(request, caller);
                       }});
  using parca::debuginfo::v1alpha1::ShouldInitiateUploadRequest;
  using parca::debuginfo::v1alpha1::ShouldInitiateUploadResponse;
  routes.add(rpc_method<ShouldInitiateUploadRequest, ShouldInitiateUploadResponse>(
      "/parca.debuginfo.v1alpha1.DebuginfoService/ShouldInitiateUpload", Scope::kWrite,
      [](const ShouldInitiateUploadRequest&,
         const Caller&) -> Result<ShouldInitiateUploadResponse> {
        ShouldInitiateUploadResponse response;
        response.set_reason("streaming uploads are not supported");
        return response;
      }));
}

}  // namespace vesta::server
