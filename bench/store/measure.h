// Small measurements for the benchmark of stores: clocks, memory, directories, quantiles. Pure
// functions, but for what they read from the system.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace vesta::bench {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double milliseconds() const { return seconds() * 1e3; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Of the whole process, or of this thread.
double process_cpu_seconds();
double thread_cpu_seconds();

uint64_t resident_bytes();
// Of all files in it, the engine's log files left out.
uint64_t directory_bytes(const std::string& directory);
// Forgets what the system has cached of the files, so that the next reader finds them on the disk.
void drop_cached_pages(const std::string& directory);

// REQUIRES: !values.empty()
double quantile(std::vector<double> values, double q);

}  // namespace vesta::bench
