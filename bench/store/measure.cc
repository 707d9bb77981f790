#include "measure.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace vesta::bench {
namespace {

double clock_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Visit>
void for_each_file(const std::string& directory, Visit&& visit) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory, ignored))
    if (entry.is_regular_file(ignored)) visit(entry);
}

}  // namespace

double process_cpu_seconds() {
  return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}
double thread_cpu_seconds() {
  return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t directory_bytes(const std::string& directory) {
  uint64_t sum = 0;
  for_each_file(directory, [&](const std::filesystem::directory_entry& entry) {
    if (!entry.path().filename().string().starts_with("LOG")) sum += entry.file_size();
  });
  return sum;
}

void drop_cached_pages(const std::string& directory) {
  for_each_file(directory, [](const std::filesystem::directory_entry& entry) {
    const int fd = open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    // Only clean pages can be dropped.
    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
  });
}

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[std::min(values.size() - 1,
                         static_cast<size_t>(q * static_cast<double>(values.size())))];
}

}  // namespace vesta::bench
