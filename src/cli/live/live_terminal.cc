#include "cli/live/live_terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace vesta::cli {
namespace {

// xterm's control sequences, which every terminal of today has.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClearToEndOfLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

volatile sig_atomic_t g_resized = 0;

void note_resize(int /*signal_number*/) {
  g_resized = 1;
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // it has gone: wait_for_key() tells
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

bool LiveTerminal::is_possible() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0 &&
         (term == nullptr || std::strcmp(term, "dumb") != 0);
}

LiveTerminal::LiveTerminal() {
  ::tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;  // Ctrl-Z would leave the screen behind
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  struct sigaction action {};
  action.sa_handler = note_resize;  // without SA_RESTART, so that it ends a wait
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGWINCH, &action, &previous_resize_);
  write_all(kEnter);
}

LiveTerminal::~LiveTerminal() {
  write_all(kLeave);
  ::sigaction(SIGWINCH, &previous_resize_, nullptr);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

LiveTerminal::Size LiveTerminal::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return {};
  return {size.ws_row, size.ws_col};
}

void LiveTerminal::draw(std::string_view text) const {
  std::string out(kHome);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    out += text.substr(0, end);
    out += kClearToEndOfLine;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!text.empty()) out += "\r\n";
  }
  out += kClearBelow;
  write_all(out);
}

int LiveTerminal::wait_for_key(int milliseconds) const {
  if (g_resized != 0) {
    g_resized = 0;
    return kResized;
  }
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int ready = ::poll(&input, 1, milliseconds);
  if (ready < 0 && g_resized != 0) {
    g_resized = 0;
    return kResized;
  }
  if (ready <= 0) return kNoKey;
  unsigned char byte = 0;
  const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
  if (got < 0 && errno == EINTR) return kNoKey;
  return got == 1 ? byte : kClosed;
}

}  // namespace vesta::cli
