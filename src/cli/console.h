// Where a command writes: results to `out`, everything else to `err`, each with colours only when
// it is a terminal. Injected, so that tests can look at what was printed. Not thread-safe.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "base/result.h"
#include "reports/print/text_style.h"

namespace vesta::cli {

class Console {
 public:
  Console(std::FILE* out, std::FILE* err);

  const TextStyle& out_style() const { return out_style_; }
  const TextStyle& err_style() const { return err_style_; }
  // "always", "never" or "auto", from --color.
  void set_color(std::string_view when);

  // kIo when nobody reads any more, or the disk is full.
  Status print(std::string_view text);
  void note(std::string_view text);
  // As it is, to `err`: reports that are not the result itself.
  void tell(std::string_view text);
  bool err_is_terminal() const { return err_is_terminal_; }
  // One line that is drawn over the last one, cut to the width of the terminal; empty text takes it
  // away. REQUIRES: err_is_terminal()
  void draw_status(std::string_view text);
  // "vesta: …" with the hint on a line of its own.
  void error(const Error& error);

 private:
  std::FILE* out_;
  std::FILE* err_;
  TextStyle out_style_;
  TextStyle err_style_;
  bool err_is_terminal_ = false;
};

}  // namespace vesta::cli
