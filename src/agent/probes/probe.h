// What makes samples: a clock, a tracepoint, a function of somebody's program. A probe is one
// object of bpf/, one folder here and one line in probe_table.cc; everything else (the ring,
// targets, unwinding, naming, profiles) it shares with the others through the session. One owner
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <shared/sample.h>
#include <shared/thread.h>
#include "agent/kernel/kernel_session.h"
#include "base/result.h"

namespace vesta::agent {

struct ProbeOptions {
  uint32_t rate = 0;  // events per second and CPU, for a probe that has a clock; 0 for others
  // Which of several sources of events; empty: the best that there is. See ProbeSource.
  std::string source;
  bool kernel_stacks = true;
  // Of probes whose events last: those that are shorter are left out.
  uint64_t min_wait_ns = 0;
  bool kernel_threads = false;  // likewise: those of the kernel's own threads, too
  bool lock_addresses = false;  // likewise: waits for locks are labelled with where the lock is
};

// An event that goes on, up to a cut.
struct OpenEvent {
  const vesta_thread& thread;  // which does not run
  std::array<uint64_t, VESTA_MAX_VALUES> values{};
  // As in a record.
  uint64_t detail = 0;
  uint64_t object = 0;
  uint64_t link = 0;
};
using UseOpenEvent = std::function<void(const OpenEvent&)>;

// A sum that a probe keeps beside its samples, to compare them with.
struct ProbeTotal {
  std::string_view name;
  uint64_t value = 0;  // in the unit of the kind's main column
  uint64_t count = 0;
};

// Where a probe's events come from.
struct ProbeSource {
  std::string_view name;  // "cpu-clock"
  std::string_view
      fallback_reason;  // why not a better one, for the user; empty when it is the best
};

class Probe {
 public:
  Probe() = default;
  virtual ~Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // Samples from here on.
  virtual Status start() = 0;
  // No record is made after this returns; those in the ring are still there.
  virtual void stop() = 0;
  // For a probe that has a clock. Values stay true: what was made before stands for the old rate.
  // kUsage for a rate of 0.
  virtual Status set_rate(uint32_t rate) = 0;
  // About once per second: follows what came or went (CPUs, files). Cheap when nothing did.
  virtual Status maintain() { return {}; }
  // For a probe whose events last: what went on at that time (CLOCK_MONOTONIC, not in the future)
  // and began before `older_than_ns` is told up to then, and not again when it ends.
  virtual Status cut(uint64_t /*time_ns*/, uint64_t /*older_than_ns*/,
                     const UseOpenEvent& /*use*/) {
    return {};
  }

  // What an event stands for now, in the unit of the kind's main column.
  virtual uint64_t period() const = 0;
  virtual ProbeSource source() const = 0;
  // What its programs took of the CPUs. Its counters are the session's, under its number.
  virtual KernelRunTime cost() const = 0;
  virtual std::vector<ProbeTotal> totals() const { return {}; }
};

// A column of a profile, and of the values of a record.
struct ProbeColumn {
  std::string_view type;  // "cpu"
  std::string_view unit;  // "nanoseconds"
};

struct ProbeKind;

// An event of a probe, when its stack has names.
struct NamedEvent {
  const ProbeKind& kind;
  uint64_t detail = 0;                          // vesta_sample::detail
  std::string_view cause;                       // see ProbeKind::cause_of; empty without one
  std::span<const std::string_view> functions;  // leaf first; the cause is the first, in brackets
};

// Which frames a view shows of an event that somebody ended.
enum class ViewStack : uint8_t {
  kEvent,
  kEventAndEnder,  // those of the ender above those of the event
  kEnder,
};

// A kind that has no events of its own but is made of those of others. Its count and its main
// column are theirs.
struct ProbeView {
  std::span<const std::string_view> needs;  // names of the kinds that it is made of
  bool has_all_events = false;              // none is left out: lost ones are in its totals, too
  std::string_view label = {};              // beside those that the event has anyway
  ViewStack stack = ViewStack::kEvent;
  // The label's value, for an event that is part of the view. Asked once for each stack and detail.
  std::optional<std::string> (*part_of)(const NamedEvent& event) = nullptr;
};

// A line of the table of probes.
struct ProbeKind {
  std::string_view name;                 // in flags and keys: "cpu"
  std::string_view title;                // for people, before "time" or alone: "CPU"
  std::string_view profile;              // what its profiles are called: "process_cpu"
  std::span<const ProbeColumn> columns;  // one for each of vesta_sample::values
  size_t count_column = 0;               // counts events: a lost one is 1 there …
  size_t main_column = 0;     // … and a period here, which is what people look at first
  uint32_t default_rate = 0;  // of its clock; 0: it has none, and events come by themselves
  // Has the kernel check its programs, but does not sample yet. `number` is what its records carry.
  Result<std::unique_ptr<Probe>> (*load)(const KernelSession& session, uint32_t number,
                                         const ProbeOptions& options) = nullptr;
  // For a kind whose events have a cause: a word for it, from vesta_sample::detail and the names of
  // the kernel's and of user functions, leaf first. It becomes the innermost frame, and the label `cause_label`.
  std::string_view cause_label = {};
  std::string_view (*cause_of)(uint64_t detail, std::span<const std::string_view> kernel,
                               std::span<const std::string_view> user) = nullptr;
  // For a kind whose events are ended by somebody: see StackExtras.
  std::string_view (*interrupt_of)(std::span<const std::string_view> kernel) = nullptr;
  const ProbeView* view = nullptr;  // then there is nothing to load
};

}  // namespace vesta::agent
