// What lies between a batch of profiles and a wire: payloads. A codec makes them and can cut one
// into parts; a sender gets one across and says how that went. Both belong to one exporter, whose
// thread alone uses the sender, but for cancel().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/export/disk_queue.h"
#include "base/result.h"
#include "profile/profile.h"

namespace vesta::agent {

class PayloadCodec {
 public:
  PayloadCodec() = default;
  virtual ~PayloadCodec() = default;
  PayloadCodec(const PayloadCodec&) = delete;
  PayloadCodec& operator=(const PayloadCodec&) = delete;

  // Compressed, as they will lie in the queue. Every profile of the batch is in exactly one of
  // them, in order.
  virtual std::vector<QueueItem> encode(const ProfileBatch& batch) const = 0;
  // A payload of `count` of its profiles, from `first` on.
  virtual Result<std::string> slice(std::string_view payload, uint32_t first,
                                    uint32_t count) const = 0;
};

struct SendOutcome {
  enum class Kind : uint8_t {
    kSent,
    kRetry,     // nothing wrong with the payload
    kRejected,  // whatever is tried
    kTooLarge,  // less of it may pass
  };
  Kind kind = Kind::kRetry;
  uint32_t rejected_profiles = 0;  // of kSent: the other side took the rest
  std::string reason;              // of everything else
  int64_t retry_after_ns = -1;     // as the other side asks for; -1 = it does not

  static SendOutcome sent() { return {Kind::kSent, 0, {}, -1}; }
  static SendOutcome partly_sent(uint32_t rejected, std::string reason) {
    return {Kind::kSent, rejected, std::move(reason), -1};
  }
  static SendOutcome retry(std::string reason, int64_t after_ns = -1) {
    return {Kind::kRetry, 0, std::move(reason), after_ns};
  }
  static SendOutcome rejected(std::string reason) {
    return {Kind::kRejected, 0, std::move(reason), -1};
  }
  static SendOutcome too_large(std::string reason) {
    return {Kind::kTooLarge, 0, std::move(reason), -1};
  }
};

class Sender {
 public:
  Sender() = default;
  virtual ~Sender() = default;
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  virtual SendOutcome send(std::string_view payload, uint32_t profiles) = 0;
  // Ends a send() that is under way, and all to come, soon. From any thread.
  virtual void cancel() = 0;
};

}  // namespace vesta::agent
