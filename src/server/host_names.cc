#include "server/host_names.h"

#include <arpa/inet.h>

#include <algorithm>

#include "server/http_text.h"

namespace vesta::server {
namespace {

// "[::1]:4040" and "::1" are both in use; a port has no second colon.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  const size_t colon = host.find(':');
  return colon != std::string_view::npos && colon == host.rfind(':') ? host.substr(0, colon) : host;
}

bool is_address(const std::string& name) {
  in6_addr address{};
  return ::inet_pton(AF_INET, name.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

}  // namespace

HostNames::HostNames(std::vector<std::string> more) : every_(false), more_(std::move(more)) {
  for (std::string& name : more_) {
    name = lower_case(name);
    every_ = every_ || name == "*";
  }
}

bool HostNames::includes(std::string_view host) const {
  if (every_ || host.empty()) return true;
  std::string name = lower_case(without_port(trim(host)));
  if (name.ends_with('.')) name.pop_back();
  return name == "localhost" || name.ends_with(".localhost") || is_address(name) ||
         std::ranges::find(more_, name) != more_.end();
}

}  // namespace vesta::server
