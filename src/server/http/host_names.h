// Which names a server answers to. The owner of a site can let its name lead to this machine (DNS
// rebinding), and to a browser that has a page of that site open, a server here that requires no
// token is then part of the site: the page may read everything. Addresses and "localhost" are names
// that nobody else can give. Immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/authority.h"

namespace vesta::server {

class HostNames {
 public:
  // Every name.
  HostNames() = default;
  // Addresses, localhost and the listed ones; "*" stands for every name. With `every`, all names
  // are answered to, and the list is only of those that lists() knows.
  explicit HostNames(std::vector<std::string> listed, bool every = false);

  // `host` as in the header. Empty is what no browser sends.
  bool includes(std::string_view host) const;
  // Whether the name itself is in the list; "*" is no name.
  bool lists(const Authority& host) const;

 private:
  bool every_ = true;
  std::vector<std::string> listed_;  // in lower case
};

}  // namespace vesta::server
