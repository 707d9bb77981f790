#include "net/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace vesta {
namespace {

Result<CurlLibrary> load() {
  void* const handle = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("cannot load libcurl: {}",
                             ::dlerror()),  // NOLINT(concurrency-mt-unsafe): glibc's is per thread
                 "install the package libcurl4"};
  }
  const char* missing = nullptr;
  const auto resolve = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    if (function == nullptr) missing = name;
  };
  CurlLibrary library;
  resolve("curl_global_init", library.global_init);
  resolve("curl_easy_init", library.easy_init);
  resolve("curl_easy_cleanup", library.easy_cleanup);
  resolve("curl_easy_reset", library.easy_reset);
  resolve("curl_easy_setopt", library.easy_setopt);
  resolve("curl_easy_perform", library.easy_perform);
  resolve("curl_easy_getinfo", library.easy_getinfo);
  resolve("curl_easy_strerror", library.easy_strerror);
  resolve("curl_slist_append", library.slist_append);
  resolve("curl_slist_free_all", library.slist_free_all);
  if (missing != nullptr) {
    return Error{ErrorCode::kUnsupported, fmt::format("libcurl lacks the function {}", missing),
                 "install libcurl 7.85 or newer"};
  }
  if (library.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return Error{ErrorCode::kIo, "cannot start libcurl", ""};
  return library;
}

}  // namespace

Result<const CurlLibrary*> curl_library() {
  static const Result<CurlLibrary> kLibrary = load();
  if (!kLibrary.ok()) return kLibrary.error();
  return &*kLibrary;
}

}  // namespace vesta
