// A synthetic fleet: services with pods, each of which sends a CPU profile every ten seconds. Every
// service has a call tree of its own; what a pod sends is drawn from its stacks, a few of which are
// hot and most of which are rare. The same shape gives the same profiles, whatever the order in
// which they are asked for. Immutable once made; safe to read from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace vesta {

struct FleetShape {
  uint32_t services = 100;
  uint32_t pods = 10;        // of each service
  uint32_t stacks = 20'000;  // of each service, drawn with zipf(1.0)
  uint32_t functions = 5'000;
  uint32_t frames = 15'000;  // functions at lines
  uint32_t depth = 30;       // on average
  uint32_t min_draws = 300;  // events of a profile
  uint32_t max_draws = 2'000;
  uint64_t seed = 1;
};

class CallTreeOfService;

class Fleet {
 public:
  static constexpr int64_t kIntervalNs = 10'000'000'000;
  static constexpr int64_t kPeriodNs = 10'000'000;

  explicit Fleet(const FleetShape& shape);
  ~Fleet();

  const FleetShape& shape() const { return shape_; }
  std::string service_name(uint32_t service) const;

  // One profile, as a client sends it: the dictionary has what its samples use. `interval` counts
  // the profiles of a pod; profiles start at start_ns + interval · kIntervalNs.
  ProfileBatch profile(uint32_t service, uint32_t pod, int64_t start_ns, uint64_t interval) const;

  // The same as gzip of pprof, which has no place for the labels of the pod.
  std::string gzip_pprof(uint32_t service, uint32_t pod, int64_t start_ns, uint64_t interval) const;

  // All pods of a service over several intervals in one batch, whose dictionary has all stacks of
  // the service: for filling a store without decoding.
  ProfileBatch batch(uint32_t service, int64_t start_ns, uint64_t first_interval,
                     uint64_t intervals) const;

  // Names the pod: service, pod, namespace, node, zone, version.
  static void set_labels(ProfileBatch& batch, Profile& profile, std::string_view service,
                         uint32_t pod);

 private:
  const CallTreeOfService& tree(uint32_t service) const { return *trees_[service]; }
  Profile drawn(uint32_t service, uint32_t pod, int64_t start_ns, uint64_t interval) const;

  FleetShape shape_;
  std::vector<std::unique_ptr<CallTreeOfService>> trees_;
  static constexpr size_t kGuides = 4096;
  std::vector<double> zipf_;            // sums of the shares of the ranks
  std::vector<std::ptrdiff_t> guides_;  // where to look in them, by the first bits of a draw
};

}  // namespace vesta
