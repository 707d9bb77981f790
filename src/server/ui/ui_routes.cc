#include "server/ui/ui_routes.h"

#include <string>

#include "server/http/http_text.h"

namespace vesta::server {
namespace {

// "*", or a list in which it stands; a proxy that packed the answer makes the tag weak.
bool has_etag(std::string_view if_none_match, std::string_view etag) {
  return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

void choose_coding(std::string_view accepted, const UiAsset& asset, HttpResponse& response) {
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (!asset.brotli.empty() && accepts_encoding(accepted, "br")) {
    response.headers.emplace_back("Content-Encoding", "br");
    response.body = asset.brotli;
  } else if (!asset.gzip.empty() && accepts_encoding(accepted, "gzip")) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = asset.gzip;
  } else {
    response.body = asset.content;
  }
}

HttpResponse serve(const UiAsset& asset, const HttpRequest& request) {
  HttpResponse response;
  response.content_type = asset.content_type;
  response.compressible = false;
  response.headers.emplace_back("ETag", asset.etag);
  // A page that names new assets must be seen at once.
  response.headers.emplace_back(
      "Cache-Control", asset.has_hash ? "public, max-age=31536000, immutable" : "no-cache");
  if (has_etag(request.header("if-none-match"), asset.etag)) {
    response.status = 304;
    return response;
  }
  choose_coding(request.header("accept-encoding"), asset, response);
  return response;
}

}  // namespace

void add_ui_routes(Routes& routes, std::span<const UiAsset> assets) {
  for (const UiAsset& asset : assets) {
    std::string path = "/";
    if (asset.path != "index.html") path += asset.path;
    routes.add(HttpRoute{"GET", std::move(path), Scope::kNone,
                         [&asset](const HttpRequest& request, const Caller& /*caller*/) {
                           return serve(asset, request);
                         }});
  }
}

}  // namespace vesta::server
