#include "base/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace vesta {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

uint64_t resident_bytes() {
  uint64_t virtual_pages = 0;
  uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> virtual_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void write_process_metrics(PrometheusText& text) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  text.one("process_cpu_seconds_total", "counter", "CPU time, user and system, in seconds.",
           seconds(usage.ru_utime) + seconds(usage.ru_stime));
  uint64_t virtual_pages = 0;
  uint64_t resident_pages = 0;
  std::ifstream("/proc/self/statm") >> virtual_pages >> resident_pages;
  const double page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  text.one("process_resident_memory_bytes", "gauge", "Resident memory, in bytes.",
           static_cast<double>(resident_pages) * page);
  text.one("process_virtual_memory_bytes", "gauge", "Virtual memory, in bytes.",
           static_cast<double>(virtual_pages) * page);
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (!error) {
    text.one("process_open_fds", "gauge", "Open file descriptors.",
             static_cast<double>(std::distance(begin(files), end(files))));
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    text.one("process_max_fds", "gauge", "Limit of open file descriptors.",
             static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace vesta
