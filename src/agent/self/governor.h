// Keeps the agent within its CPU budget by choosing the sampling rate, where a lower rate helps.
// Pure: it is given what was used and says which rate to use; the owner measures and sets. One
// owner thread.
//
// The cost has two parts: samples (all of the kernel programs' time, and a part of the threads'
// time) and what is there at any rate, such as reading the tables of programs that start. Only the
// first falls with the rate. How much of the threads' time that is follows from what a sample costs
// in the cheapest moments, and from what earlier changes of the rate saved. Where a lower rate
// would not bring the whole much closer to the budget, it stays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vesta::agent {

struct GovernorOptions {
  double cpu_share = 0.01;  // of one core, over some minutes
  uint32_t max_rate = 99;   // as configured
  uint32_t min_rate = 19;
  // After the first update, in which nothing is judged: reading the tables of every process costs
  // the same at any rate.
  uint64_t warm_up_ns = 30'000'000'000;
};

// Totals since any one moment.
struct CpuUsage {
  uint64_t wall_ns = 0;  // of a clock that is never set back
  uint64_t own_ns = 0;   // CPU time of the agent's threads
  uint64_t bpf_ns = 0;   // run time of its kernel programs, which others pay
  uint64_t samples = 0;
};

// The least that a sample cost the threads within the last half hour: an upper bound of what one
// sample more costs, since the rest of their work is never less than nothing.
class SampleCostBound {
 public:
  void add(uint64_t now_ns, double own_ns, double samples);
  double ns() const;  // a very large number before enough is known

 private:
  static constexpr size_t kPeriods = 6;
  std::array<double, kPeriods> least_{};  // of each period; 0: nothing known
  uint64_t period_ = 0;                   // the current one
  double own_ns_ = 0;                     // since the last judgement
  double samples_ = 0;
};

class Governor {
 public:
  explicit Governor(const GovernorOptions& options);

  // To be called about once a second. The rate to use from now on.
  uint32_t update(const CpuUsage& usage);

  uint32_t rate() const { return rates_[at_]; }
  double share() const { return own_ + bpf_; }  // of one core, over two minutes
  double sample_share() const;                  // the part that falls with the rate
  double fixed_share() const { return share() - sample_share(); }
  bool is_limiting() const { return at_ + 1 < rates_.size(); }
  // What a lower rate cannot change is more than the budget by itself.
  bool is_fixed_over() const { return is_fixed_over_; }
  uint64_t changes() const { return changes_; }

  // Rates that share no small factor with timers of programs (100, 60, 50, 10 a second), so that
  // samples do not run in step with what they sample. From `min_rate` to `max_rate`, both included.
  static std::vector<uint32_t> ladder(uint32_t min_rate, uint32_t max_rate);

 private:
  // What is measured after a lowering, to know what a sample really costs.
  struct Trial {
    uint64_t start_ns = 0;      // 0: none
    double own_before = 0;      // shares of a core
    double samples_before = 0;  // a second
    double sample_ns = 0;       // what one was thought to cost the threads
    double own_ns = 0;
    double samples = 0;
    double seconds = 0;
  };

  void measure(const CpuUsage& usage, const CpuUsage& before);
  void judge_trial(uint64_t now_ns);
  double sample_ns() const;
  size_t best(double margin, double worth) const;
  void raise_if_there_was_room(uint64_t now_ns);
  void note_fixed();
  void change(size_t to, uint64_t now_ns);

  GovernorOptions options_;
  std::vector<uint32_t> rates_;
  size_t at_;
  CpuUsage last_;
  bool has_usage_ = false;
  uint64_t warm_until_ns_ = 0;
  double seconds_ = 0;  // measured so far
  // Over two minutes.
  double own_ = 0;
  double bpf_ = 0;
  double samples_ = 0;
  SampleCostBound bound_;
  Trial trial_;
  double tried_ns_ = -1;  // what a sample costs the threads by the last trial; -1: not known
  uint64_t tried_until_ns_ = 0;
  uint64_t trust_ns_;  // doubled when a trial says the same again
  double recent_ = 0;  // all of the cost, over 15 s
  uint64_t over_since_ns_ = 0;
  uint64_t room_since_ns_ = 0;  // since when a higher rate would be within the budget
  size_t room_ = 0;             // the highest that was so all the time
  uint64_t changed_ns_ = 0;
  uint64_t raised_ns_ = 0;
  uint64_t lower_wait_ns_;  // doubled when a lowering has to be taken back
  uint64_t raise_wait_ns_;  // doubled when a raise proves to have been one too many
  bool is_fixed_over_ = false;
  uint64_t changes_ = 0;
};

}  // namespace vesta::agent
