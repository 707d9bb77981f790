#include "cli/live/live_view.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/live/live_profile.h"
#include "cli/live/live_table.h"
#include "cli/live/live_terminal.h"
#include "cli/record/interrupt.h"

namespace vesta::cli {
namespace {

constexpr int kLookMs = 100;  // for Ctrl-C, and for the end of what is looked at
constexpr size_t kHeadRows = 3;
constexpr size_t kMaxFilterBytes = 64;
constexpr int kEscape = 27;
constexpr int kBackspace = 127;

// `head` and the like have seen enough.
bool has_reader() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) <= 0 || (output.revents & POLLERR) == 0;
}

class LiveView {
 public:
  LiveView(const LiveOptions& options, Console& console, agent::Sampling& sampling,
           LiveProfile& profile)
      : options_(options),
        console_(console),
        sampling_(sampling),
        profile_(profile),
        order_(options.order),
        began_ns_(monotonic_ns()),
        stretch_began_ns_(began_ns_) {
    if (LiveTerminal::is_possible() && options.report.format == ReportFormat::kText)
      terminal_.emplace();
  }

  Status run() {
    VESTA_TRY(show());
    while (!is_over()) {
      wait();
      if (ns_since(stretch_began_ns_) < options_.interval_ns && !sampling_.targets_ended())
        continue;
      VESTA_TRY(next_table());
    }
    return {};
  }

 private:
  static int64_t ns_since(uint64_t start_ns) {
    return static_cast<int64_t>(monotonic_ns() - start_ns);
  }

  bool is_over() {
    if (Interrupt::came() || is_closed_) return true;
    if (options_.count != 0 && tables_ >= options_.count) return true;
    if (options_.duration_ns != 0 && ns_since(began_ns_) >= options_.duration_ns && tables_ > 0)
      return true;
    // The last table is about the end.
    return sampling_.targets_ended() && has_shown_end_;
  }

  void wait() {
    const int64_t left_ns = options_.interval_ns - ns_since(stretch_began_ns_);
    const int milliseconds =
        static_cast<int>(std::clamp<int64_t>(left_ns / 1'000'000 + 1, 0, kLookMs));
    if (!terminal_) {
      Interrupt::wait(milliseconds);
      return;
    }
    const int key = terminal_->wait_for_key(milliseconds);
    if (key == LiveTerminal::kNoKey) return;
    take_key(key);
    if (!is_closed_) (void)show();
  }

  void take_key(int key) {
    if (key == LiveTerminal::kResized) return;
    if (key == LiveTerminal::kClosed) {
      is_closed_ = true;
    } else if (is_typing_) {
      type(key);
    } else if (key == 'q' || key == 'Q') {
      is_closed_ = true;
    } else if (key == 'p' || key == ' ') {
      is_paused_ = !is_paused_;
    } else if (key == 's') {
      order_ = order_ == TopOrder::kByFlat ? TopOrder::kByCum : TopOrder::kByFlat;
    } else if (key == 'z') {
      profile_.clear();
      window_ = empty_window();
    } else if (key == '/') {
      is_typing_ = true;
      filter_.clear();
    }
  }

  void type(int key) {
    if (key == '\r' || key == '\n') {
      is_typing_ = false;
    } else if (key == kEscape) {
      is_typing_ = false;
      filter_.clear();
    } else if (key == kBackspace || key == '\b') {
      if (!filter_.empty()) filter_.pop_back();
    } else if (key >= ' ' && filter_.size() < kMaxFilterBytes) {
      filter_ += static_cast<char>(key);
    }
  }

  Status next_table() {
    has_shown_end_ = sampling_.targets_ended();
    profile_.next(ns_since(stretch_began_ns_));
    stretch_began_ns_ = monotonic_ns();
    ++tables_;
    if (!is_paused_) {
      VESTA_ASSIGN(window_, profile_.window(options_.frames));
    }
    return show();
  }

  Status show() {
    LiveTableOptions table;
    table.order = order_;
    table.filter = filter_;
    table.what = options_.what;
    table.frequency = options_.recording.sampling.probes.front().options.rate;
    table.lost = sampling_.counters().lost_total();
    table.is_paused = is_paused_;
    table.max_rows = options_.report.max_rows;
    table.style = options_.report.style;
    if (terminal_) {
      const LiveTerminal::Size size = terminal_->size();
      const size_t rows = size.rows > kHeadRows + 2 ? size.rows - kHeadRows - 2 : 1;
      table.max_rows = table.max_rows == 0 ? rows : std::min(rows, table.max_rows);
      table.style.width = size.columns;
      terminal_->draw(live_table(window_, table) + "\n" + key_line(table.style, size.columns));
      return {};
    }
    if (tables_ == 0) return {};
    VESTA_TRY(console_.print(options_.report.format == ReportFormat::kText
                                 ? live_table(window_, table) + "\n"
                                 : top_report(window_.frames, order_, options_.report)));
    if (!has_reader()) is_closed_ = true;
    return {};
  }

  std::string key_line(const TextStyle& style, size_t columns) const {
    const std::string text =
        is_typing_ ? fmt::format("filter: {}_  (Enter: keep, Esc: clear)", printable(filter_))
                   : fmt::format("q quit  p {}  s sort by {}  z zero  / filter",
                                 is_paused_ ? "go on" : "pause",
                                 order_ == TopOrder::kByFlat ? "cum" : "self");
    return style.dim(text.substr(0, columns));
  }

  static LiveProfile::Window empty_window() {
    LiveProfile::Window window;
    window.frames.dictionary = std::make_shared<const Dictionary>();
    return window;
  }

  const LiveOptions& options_;
  Console& console_;
  agent::Sampling& sampling_;
  LiveProfile& profile_;
  std::optional<LiveTerminal> terminal_;
  LiveProfile::Window window_ = empty_window();
  TopOrder order_;
  std::string filter_;
  uint64_t began_ns_;
  uint64_t stretch_began_ns_;
  int64_t tables_ = 0;
  bool is_paused_ = false;
  bool is_typing_ = false;
  bool is_closed_ = false;
  bool has_shown_end_ = false;
};

}  // namespace

Result<int> run_live(const LiveOptions& options, Console& console) {
  const Interrupt interrupt;
  std::unique_ptr<LiveProfile> profile;  // outlives the sampling that feeds it
  VESTA_ASSIGN(const std::unique_ptr<agent::Sampling> sampling,
               agent::Sampling::load(options.recording.sampling));
  const int64_t stretches = std::max<int64_t>(options.window_ns / options.interval_ns, 1);
  profile = std::make_unique<LiveProfile>(options.recording, sampling->periods(),
                                          static_cast<size_t>(stretches));
  VESTA_TRY(sampling->run(*profile));
  VESTA_TRY(LiveView(options, console, *sampling, *profile).run());
  sampling->stop();
  if (sampling->targets_ended()) {
    console.note(fmt::format(
        "ended after {}: all processes have ended",
        format_value(static_cast<int64_t>(monotonic_ns() - sampling->began_ns()), "nanoseconds")));
  }
  return kOk;
}

}  // namespace vesta::cli
