// Serves one page on the loopback address, for a browser on this machine, at a path that cannot be
// guessed. Made for a person who looks at one recording: one connection at a time, bounded in bytes
// and time. One owner thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace vesta::cli {

class PageServer {
 public:
  // Listens on a free port.
  static Result<PageServer> open(std::string html);

  std::string url() const;
  // Answers requests until `should_stop`, which is asked several times a second.
  void serve(const std::function<bool()>& should_stop);

 private:
  PageServer(UniqueFd socket, uint16_t port, std::string token, std::string html);
  void answer(int connection) const;

  UniqueFd socket_;
  uint16_t port_;
  std::string token_;
  std::string html_;
};

}  // namespace vesta::cli
