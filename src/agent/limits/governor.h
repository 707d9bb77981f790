// Keeps the agent within its CPU budget by choosing the sampling rates of its probes, where lower
// ones help. Pure: it is given what was used and says which rates to use; the owner measures and
// sets. One owner thread.
//
// The cost has two parts: samples (all of the probes' time in the kernel, and a part of the
// threads' time) and what is there at any rate, such as reading the tables of programs that start.
// Only the first falls with the rates. How much of the threads' time that is follows from what a
// sample costs in the cheapest moments, and from what earlier changes of a rate saved. Where lower
// rates would not bring the whole much closer to the budget, they stay.
//
// What samples may cost is shared out among the probes: each has the same part, and what one does
// not need is for the others. So a dear probe is lowered, and a cheap one beside it stays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vesta::agent {

struct RateBounds {
  uint32_t min = 19;
  uint32_t max = 99;  // as configured
};

struct GovernorOptions {
  double cpu_share = 0.01;  // of one core, over some minutes
  // Of each probe that has a rate; at least one.
  std::vector<RateBounds> rates = {RateBounds()};
  // After the first update, in which nothing is judged: reading the tables of every process costs
  // the same at any rate.
  uint64_t warm_up_ns = 30'000'000'000;
};

// Totals since any one moment.
struct ProbeUsage {
  uint64_t bpf_ns = 0;  // run time of its kernel programs, which others pay
  uint64_t samples = 0;
};
struct CpuUsage {
  uint64_t wall_ns = 0;  // of a clock that is never set back
  uint64_t own_ns = 0;   // CPU time of the agent's threads
  // Run time of kernel programs that no rate changes: the session's, and probes without a clock.
  uint64_t other_bpf_ns = 0;
  std::vector<ProbeUsage> probes;  // as GovernorOptions::rates
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

// The CPU time of the threads at one set of rates, in blocks of some seconds: their mean, and by how
// much they differ from each other.
class CostAtRates {
 public:
  // Blocks begin at `from_ns`.
  explicit CostAtRates(uint64_t from_ns = 0) : from_ns_(from_ns) {}
  // What was used in `seconds` until `now_ns`. Whether a block has ended with it.
  bool add(uint64_t now_ns, double seconds, double own_ns, double samples);

  uint64_t from_ns() const { return from_ns_; }
  size_t blocks() const { return blocks_; }
  double own_ns() const { return mean_; }  // a second
  double samples() const { return seconds_ == 0 ? 0 : samples_ / seconds_; }
  // Of the difference of both means. What blocks vary by is about the same share of either mean.
  static double standard_error(const CostAtRates& a, const CostAtRates& b);
  double standard_error() const;

 private:
  double relative_squares() const { return mean_ == 0 ? 0 : squares_ / (mean_ * mean_); }

  uint64_t from_ns_;
  size_t blocks_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // of the differences from the mean
  double samples_ = 0;
  double seconds_ = 0;
  // Of the block that has not ended.
  double block_own_ns_ = 0;
  double block_samples_ = 0;
  double block_seconds_ = 0;
};

class Governor {
 public:
  explicit Governor(const GovernorOptions& options);

  // To be called about once a second; rate() is what to use from then on.
  void update(const CpuUsage& usage);

  uint32_t rate(size_t probe = 0) const { return probes_[probe].rate(); }
  double share() const { return own_ + other_ + bpf(); }  // of one core, over two minutes
  double sample_share() const;                            // the part that falls with the rates
  double fixed_share() const { return share() - sample_share(); }
  bool is_limiting() const;
  // What lower rates cannot change is more than the budget by itself.
  bool is_fixed_over() const { return is_fixed_over_; }
  uint64_t changes() const { return changes_; }  // of any of the rates

  // Rates that share no small factor with timers of programs (100, 60, 50, 10 a second), so that
  // samples do not run in step with what they sample. From `min_rate` to `max_rate`, both included.
  static std::vector<uint32_t> ladder(uint32_t min_rate, uint32_t max_rate);

 private:
  // Of a lowering: what it was before; after it is `level_`. None is lowered until it is clear.
  struct Trial {
    uint64_t start_ns = 0;  // 0: none
    CostAtRates before;
  };

  struct Probe {
    std::vector<uint32_t> rates;
    size_t at = 0;
    // Over two minutes.
    double bpf = 0;
    double samples = 0;
    uint32_t rate() const { return rates[at]; }
  };
  // A position on the ladder of each probe.
  using Positions = std::vector<size_t>;

  void measure(const CpuUsage& usage, const CpuUsage& before);
  void judge_trial(uint64_t now_ns);
  void assume(double sample_ns);
  bool is_in_vain_if(double sample_ns) const;
  bool is_known_well_enough(const Positions& to) const;
  double bpf() const;
  double samples() const;
  double sample_ns() const;
  double own_of_samples(const Probe& probe) const;
  double cost_by_rate(const Probe& probe) const;
  Positions best(double margin, double worth) const;
  Positions current() const;
  Positions highest() const;
  bool lower_if_it_helps(uint64_t now_ns);
  void raise_if_there_was_room(uint64_t now_ns);
  void note_fixed();
  void change(const Positions& to, uint64_t now_ns);

  GovernorOptions options_;
  std::vector<Probe> probes_;
  CpuUsage last_;
  bool has_usage_ = false;
  uint64_t warm_until_ns_ = 0;
  double seconds_ = 0;  // measured so far
  // Over two minutes.
  double own_ = 0;
  double other_ = 0;
  SampleCostBound bound_;
  CostAtRates bound_block_;
  CostAtRates level_;  // since the last change, or since it is over the budget
  bool has_new_block_ = false;
  Trial trial_;
  double tried_ns_ = -1;  // what a sample costs the threads by the last trial; -1: not known
  uint64_t tried_until_ns_ = 0;
  uint64_t trust_ns_;  // doubled when a trial says the same again
  double recent_ = 0;  // all of the cost, over 15 s
  uint64_t over_since_ns_ = 0;
  uint64_t room_since_ns_ = 0;  // since when higher rates would be within the budget
  Positions room_;              // the highest that were so all the time
  uint64_t changed_ns_ = 0;
  uint64_t raised_ns_ = 0;
  uint64_t lower_wait_ns_;  // doubled when a lowering has to be taken back
  uint64_t raise_wait_ns_;  // doubled when a raise proves to have been one too many
  bool is_fixed_over_ = false;
  uint64_t changes_ = 0;
};

}  // namespace vesta::agent
