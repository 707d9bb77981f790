// libcurl, loaded at the first request: with what it depends on it is thirty libraries, and most
// commands make no request. Loaded once, never unloaded. Thread-safe.
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace vesta {

// The functions that we call, with curl's own types. The macros in curl.h that check the types of
// options do not reach through these: pass long and curl_off_t where an option wants them.
struct CurlLibrary {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
};

// kUnsupported, with the package to install, where it is missing.
Result<const CurlLibrary*> curl_library();

}  // namespace vesta
