// Which processes are short commands, as a shell or a build starts them by the thousand: those that
// come and go within a window, and younger ones of a program whose processes mostly do. Together
// they are one service. Not thread-safe; remembers a bounded number of programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace vesta::agent {

// What they are called together.
inline constexpr std::string_view kShortCommandsService = "short-lived commands";

struct ProcessLife {
  uint64_t start_ns = 0;  // 0 when it was there before us
  bool has_ended = false;
};

class ShortLivedPrograms {
 public:
  // To be asked at the end of each window about each process that was sampled in it.
  bool is_short(const std::string& program, const ProcessLife& life, uint64_t window_start_ns,
                int64_t window_ns);

 private:
  struct Seen {
    uint32_t short_lives = 0;
    uint32_t long_lives = 0;
  };
  void note(const std::string& program, bool was_short);
  bool is_mostly_short(const std::string& program) const;

  std::unordered_map<std::string, Seen> programs_;
};

}  // namespace vesta::agent
