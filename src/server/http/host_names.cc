#include "server/http/host_names.h"

#include <algorithm>

#include "base/text.h"
#include "server/http/http_text.h"

namespace vesta::server {

HostNames::HostNames(std::vector<std::string> listed, bool every)
    : every_(every), listed_(std::move(listed)) {
  for (std::string& name : listed_) {
    name = lower_case(name);
    every_ = every_ || name == "*";
  }
}

bool HostNames::includes(std::string_view host) const {
  if (every_ || host.empty()) return true;
  const auto authority = parse_authority(trim(host));
  if (!authority) return false;
  return authority->is_address || authority->host == "localhost" ||
         authority->host.ends_with(".localhost") || lists(*authority);
}

bool HostNames::lists(const Authority& host) const {
  return std::ranges::find(listed_, host.host) != listed_.end();
}

}  // namespace vesta::server
