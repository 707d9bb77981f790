// Which names a server answers to. The owner of a site can let its name lead to this machine (DNS
// rebinding), and to a browser that has a page of that site open, a server here that asks nobody
// for a token is then part of the site: the page may read everything. Addresses and "localhost" are
// names that nobody else can give. Immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vesta::server {

class HostNames {
 public:
  // Every name.
  HostNames() = default;
  // Addresses, localhost and these; "*" stands for every name.
  explicit HostNames(std::vector<std::string> more);

  // `host` as in the header, with a port or without. Empty is what no browser sends.
  bool includes(std::string_view host) const;

 private:
  bool every_ = true;
  std::vector<std::string> more_;  // in lower case
};

}  // namespace vesta::server
