// The pages, compiled into the binary: what scripts/build-ui makes of ui/. Constants.
#pragma once

#include <span>
#include <string_view>

namespace vesta::server {

struct UiAsset {
  std::string_view path;  // "index.html", "assets/index-1a2b3c4d.js"
  std::string_view content_type;
  std::string_view etag;     // with its quotes
  bool has_hash = false;     // in its name: another content has another name
  std::string_view content;  // as it is, and packed; the latter are empty when that does not pay
  std::string_view gzip;
  std::string_view brotli;
};

std::span<const UiAsset> ui_assets();

}  // namespace vesta::server
