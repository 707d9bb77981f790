// What lies between profiles and a wire: payloads. A codec makes them, a sender gets one across and
// says how that went. Both belong to one exporter, whose thread alone uses them, but for cancel().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profile/profile.h"

namespace vesta::agent {

struct Payload {
  uint32_t profiles = 0;
  std::string bytes;
};

class PayloadCodec {
 public:
  PayloadCodec() = default;
  virtual ~PayloadCodec() = default;
  PayloadCodec(const PayloadCodec&) = delete;
  PayloadCodec& operator=(const PayloadCodec&) = delete;

  // Every profile is in exactly one of them, in order.
  virtual std::vector<Payload> encode(const Dictionary& dictionary,
                                      std::span<const Profile> profiles) const = 0;
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

  virtual SendOutcome send(const Payload& payload) = 0;
  // Ends a send() that is under way, and all to come, soon. From any thread.
  virtual void cancel() = 0;
};

}  // namespace vesta::agent
