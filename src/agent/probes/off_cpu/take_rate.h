// Chooses theta, the length of wait from which on every one is taken, so that about as many stacks
// are taken each second as the budget allows. From what was, never from what is being decided:
// whatever it says, sums stay unbiased. Pure; one owner thread.
#pragma once

#include <cstdint>

namespace vesta::agent {

// Stacks a second, unless somebody says otherwise.
inline constexpr uint32_t kDefaultTakes = 1000;
// What an agent begins with, until it knows what they cost.
inline constexpr uint32_t kFirstTakes = 250;
inline constexpr uint32_t kMinTakes = 125;
// How many to take from now on, when all that the agent does costs so much of what it may: half when
// it is too much, twice as many when there is plenty of room.
uint32_t next_takes(uint32_t takes, double share_of_budget);

class TakeRate {
 public:
  static constexpr uint64_t kMinThetaNs = 100'000;
  static constexpr uint64_t kMaxThetaNs = 60'000'000'000;

  // `threads` that wait all the time give at most the budget from the first second on.
  TakeRate(uint32_t budget, uint64_t threads);

  uint64_t theta_ns() const { return theta_ns_; }
  uint32_t budget() const { return budget_; }
  void set_budget(uint32_t budget);
  // So many were taken in so much time.
  void update(uint64_t takes, uint64_t elapsed_ns);

 private:
  uint32_t budget_;  // a second
  uint64_t theta_ns_;
};

}  // namespace vesta::agent
