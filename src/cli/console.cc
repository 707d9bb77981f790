#include "cli/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace vesta::cli {
namespace {

// See no-color.org: any value that is not empty turns colours off.
bool colors_wanted() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::strcmp(term, "dumb") != 0);
}

TextStyle style_of(std::FILE* file) {
  TextStyle style;
  if (::isatty(::fileno(file)) == 0) return style;
  style.color = colors_wanted();
  struct winsize size {};
  if (::ioctl(::fileno(file), TIOCGWINSZ, &size) == 0) style.width = size.ws_col;
  return style;
}

}  // namespace

Console::Console(std::FILE* out, std::FILE* err)
    : out_(out),
      err_(err),
      out_style_(style_of(out)),
      err_style_(style_of(err)),
      err_is_terminal_(::isatty(::fileno(err)) != 0) {}

void Console::set_color(std::string_view when) {
  if (when == "always") out_style_.color = err_style_.color = true;
  if (when == "never") out_style_.color = err_style_.color = false;
}

Status Console::print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), out_) == text.size() && std::fflush(out_) == 0)
    return {};
  // A reader such as `head` has seen enough: that is not a failure.
  if (errno == EPIPE) return {};
  return Error{ErrorCode::kIo, fmt::format("cannot write the result: {}", std::strerror(errno)),
               "check that the disk is not full"};
}

void Console::note(std::string_view text) {
  fmt::print(err_, "{}\n", err_style_.dim(text));
}

void Console::tell(std::string_view text) {
  fmt::print(err_, "{}\n", text);
}

void Console::draw_status(std::string_view text) {
  const size_t width = err_style_.width == 0 ? text.size() : err_style_.width - 1;
  fmt::print(err_, "\r\x1b[K{}", text.substr(0, width));
  std::fflush(err_);
}

void Console::error(const Error& error) {
  fmt::print(err_, "{} {}\n", err_style_.red("vesta:"), printable(error.message));
  if (!error.hint.empty())
    fmt::print(err_, "  {} {}\n", err_style_.bold("hint:"), printable(error.hint));
}

}  // namespace vesta::cli
