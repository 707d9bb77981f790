// A TCP socket that listens, for servers that read and write it themselves. Plain function.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "net/listen_address.h"

namespace vesta {

struct ListenSocket {
  UniqueFd fd;            // does not block
  ListenAddress address;  // as bound: port 0 has become a real one
};

// kIo when the address cannot be had.
Result<ListenSocket> listen_on(const ListenAddress& address, int backlog);

}  // namespace vesta
