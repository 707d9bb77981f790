// Keeps the agent within its share of a core by choosing the sampling rate. Pure: it is given what
// was used and says which rate to use; the owner measures and sets. One owner thread.
//
// Part of the cost is there at any rate: reading the tables of programs that start. Where a lower
// rate has been seen to save little, samples get a quarter of the budget all the same: to give them
// up would leave the cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vesta::agent {

struct GovernorOptions {
  double cpu_share = 0.01;  // of one core, over some 30 s
  uint32_t max_rate = 99;   // as configured
  uint32_t min_rate = 1;
  // After the first update, in which nothing is judged: reading the tables of every process costs
  // the same at any rate.
  uint64_t warm_up_ns = 30'000'000'000;
};

// Totals since any one moment.
struct CpuUsage {
  uint64_t wall_ns = 0;  // of a clock that is never set back
  uint64_t own_ns = 0;   // CPU time of the agent's threads
  uint64_t bpf_ns = 0;   // run time of its kernel programs, which others pay
};

class Governor {
 public:
  explicit Governor(const GovernorOptions& options);

  // To be called about once a second. The rate to use from now on.
  uint32_t update(const CpuUsage& usage);

  uint32_t rate() const { return rates_[at_]; }
  double share() const { return smoothed_; }  // of one core, over some 30 s
  bool is_limiting() const { return at_ + 1 < rates_.size(); }
  // Over the budget, and sampling less would not mend it.
  bool is_holding() const { return smoothed_ > options_.cpu_share && is_held(last_.wall_ns); }
  uint64_t changes() const { return changes_; }

  // Rates that share no small factor with timers of programs (100, 60, 50, 10 a second), so that
  // samples do not run in step with what they sample. From `min_rate` to `max_rate`, both included.
  static std::vector<uint32_t> ladder(uint32_t min_rate, uint32_t max_rate);

 private:
  void lower(uint64_t now_ns);
  void judge_lowering(uint64_t now_ns);
  bool is_held(uint64_t now_ns) const;
  void raise(uint64_t now_ns);
  void change(size_t to, uint64_t now_ns);

  GovernorOptions options_;
  std::vector<uint32_t> rates_;
  size_t at_;
  CpuUsage last_;
  uint64_t warm_until_ns_ = 0;
  bool has_usage_ = false;
  double smoothed_ = 0;  // over 30 s: what the budget is about
  double recent_ = 0;    // over 3 s: where it is going
  uint64_t changed_ns_ = 0;
  uint64_t raised_ns_ = 0;
  uint64_t raise_wait_ns_;  // doubled when a raise proves to have been one too many
  uint64_t changes_ = 0;
  // The last lowering, until it is judged by what it saved.
  uint32_t lowered_from_ = 0;  // 0: none
  double cost_before_ = 0;
  // Not lowered again until then, because it was of no use.
  uint64_t held_until_ns_ = 0;
  double held_cost_ = 0;
  uint64_t hold_wait_ns_;  // doubled each time
};

}  // namespace vesta::agent
