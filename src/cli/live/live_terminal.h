// A whole terminal to draw on, key by key: the alternate screen, no echo, no cursor. All as it was
// when this is destroyed. One at a time; one owner thread.
#pragma once

#include <termios.h>

#include <csignal>
#include <cstddef>
#include <string_view>

namespace vesta::cli {

class LiveTerminal {
 public:
  // Whether standard input and output are a terminal that can be drawn on.
  static bool is_possible();

  LiveTerminal();
  ~LiveTerminal();
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;

  struct Size {
    size_t rows = 24;
    size_t columns = 80;
  };
  Size size() const;
  // Lines from the top; the rest of the screen becomes empty.
  void draw(std::string_view text) const;

  static constexpr int kNoKey = -1;
  static constexpr int kResized = -2;
  static constexpr int kClosed = -3;  // the terminal has gone
  // The next byte that is typed, or one of the above after at most `milliseconds`.
  int wait_for_key(int milliseconds) const;

 private:
  termios before_{};
  struct sigaction previous_resize_ {};
};

}  // namespace vesta::cli
