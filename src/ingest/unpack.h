// A body without its compression. Owns what it unpacked; otherwise a view of what was given. Both
// what it unpacked and what will be built of it count in the thread's MemoryAccount while it lives.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/memory_account.h"
#include "base/result.h"

namespace vesta {

class Unpacked {
 public:
  // gzip and zstd, told by their magic bytes; all else is left as it is. kLimit when more than
  // `max_bytes` would come out, kTooMany when others hold the memory for it.
  static Result<Unpacked> make(std::string_view bytes, uint64_t max_bytes);

  std::string_view bytes() const { return owned_ ? std::string_view(*owned_) : given_; }

 private:
  MemoryCharge charge_;
  std::string_view given_;
  std::unique_ptr<const std::string> owned_;
};

}  // namespace vesta
