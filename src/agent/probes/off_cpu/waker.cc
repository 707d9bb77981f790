#include "agent/probes/off_cpu/waker.h"

#include <algorithm>
#include <array>

#include "agent/probes/off_cpu/function_names.h"

namespace vesta::agent {
namespace {

// How the kernel gets from the code that ran to an interrupt, on x86. Names of Linux 5.17 to 6.18.
constexpr std::string_view kHard =
    "asm_sysvec_* sysvec_* asm_common_interrupt common_interrupt asm_exc_nmi cpuidle_* do_idle";
constexpr std::string_view kSoft = "handle_softirqs __do_softirq run_ksoftirqd";

// A thread that sends something to a socket of the same host delivers it itself, in a soft interrupt
// that it runs when it is done.
constexpr std::string_view kOwnSoft = "__local_bh_enable_ip";
constexpr std::string_view kDelivery = "process_backlog";

struct InterruptRow {
  std::string_view name;
  std::string_view functions;  // separated by spaces; * at the end: any that begin so
};

// The first row of which a function is on the stack decides.
constexpr auto kRows = std::to_array<InterruptRow>({
    {"interrupt: timer",
     "hrtimer_* __hrtimer_run_queues run_timer_softirq __run_timers call_timer_fn process_timeout "
     "timerfd_* posix_timer_fn it_real_fn tick_*"},
    {"interrupt: network",
     "net_rx_action net_tx_action napi_* __napi_poll process_backlog tcp_v4_rcv tcp_v6_rcv "
     "sock_def_readable tcp_*"},
    {"interrupt: disk",
     "blk_* bio_endio nvme_* virtblk_* scsi_* ata_* end_page_writeback folio_end_writeback "
     "end_buffer_* mpage_*"},
});

}  // namespace

std::string_view waking_interrupt(std::span<const std::string_view> kernel) {
  const auto has = [&](std::string_view patterns) {
    return std::ranges::any_of(kernel, [&](std::string_view function) {
      return !function.empty() && names_any(patterns, without_suffix(function));
    });
  };
  const bool is_hard = has(kHard);
  if (!is_hard && (!has(kSoft) || (has(kOwnSoft) && has(kDelivery)))) return {};
  for (const InterruptRow& row : kRows) {
    if (has(row.functions)) return row.name;
  }
  return "interrupt";
}

}  // namespace vesta::agent
