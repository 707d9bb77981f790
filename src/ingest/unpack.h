// A body without its compression. Owns what it unpacked; otherwise a view of what was given.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vesta {

class Unpacked {
 public:
  // gzip and zstd, told by their magic bytes; all else is left as it is. kLimit when more than
  // `max_bytes` would come out.
  static Result<Unpacked> make(std::string_view bytes, uint64_t max_bytes);

  std::string_view bytes() const { return owned_ ? std::string_view(*owned_) : given_; }

 private:
  std::string_view given_;
  std::unique_ptr<const std::string> owned_;
};

}  // namespace vesta
