#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>

#include "agent/kernel/bpf_stats.h"
#include "agent/profiles/recording.h"
#include "base/file.h"
#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/record/child_process.h"
#include "cli/record/interrupt.h"
#include "cli/record/page_server.h"
#include "cli/record/progress_line.h"
#include "cli/record/sampling_flags.h"
#include "cli/record/targets.h"
#include "formats/registry.h"
#include "profile/frame_name.h"
#include "profile/frame_profile.h"
#include "profile/merged_profile.h"
#include "reports/print/report.h"

namespace vesta::cli {
namespace {

constexpr int64_t kDefaultDurationNs = 10 * kSecond;
constexpr size_t kSummaryRows = 10;
constexpr int kProgressMs = 100;
constexpr int kQuietMs = 1000;

struct Plan {
  agent::RecordingOptions recording;
  int64_t duration_ns = 0;  // 0 = until the targets end or Ctrl-C
  bool has_command = false;
  std::string output;
  EncodeOptions encoding;
  std::string what;  // for people
};

// "vesta-cpu.pb.gz".
std::string default_output(const std::vector<agent::ProfileRequest>& profiles) {
  std::string kinds;
  for (const agent::ProfileRequest& profile : profiles)
    kinds += fmt::format("{}{}", kinds.empty() ? "" : "+", profile.kind->name);
  return fmt::format("vesta-{}.pb.gz", kinds);
}

// Checked before anything is recorded: ten minutes of samples must not end in "no such folder".
Status check_output(const Plan& plan) {
  const std::string& path = plan.output;
  if (path == "-") return {};
  if (picture_format_for_path(path) == nullptr) {
    ProfileBatch probe;
    probe.profiles.emplace_back();
    auto encoded = encode_for_path(probe, path, plan.encoding);
    if (!encoded.ok() && encoded.error().code == ErrorCode::kUsage)
      return std::move(encoded).error();
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::access(folder.c_str(), W_OK) != 0) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot write to {}: {}", folder, std::strerror(errno)),
                 "choose another file with -o"};
  }
  return {};
}

// What may follow "vesta record" besides flags is a command behind "--": a bare word is rather the
// name of something that runs already.
Error bare_word(const std::string& word) {
  return {ErrorCode::kUsage, fmt::format("record: unexpected argument '{}'", word),
          is_process_name(word) ? fmt::format("try vesta record -p {0} to record the running {0}, "
                                              "or vesta record -- {0} to start it",
                                              word)
                                : fmt::format("try vesta record -- {} to start the command, or -p "
                                              "PID|NAME to record a running process",
                                              word)};
}

// Flags for events that last.
Status apply_wait_flags(const Arguments& arguments, agent::RecordingOptions& recording) {
  VESTA_ASSIGN(const int64_t min_wait_ns, duration_of(arguments, "min-wait", 0));
  bool applies = false;
  for (agent::ProbeRequest& probe : recording.sampling.probes) {
    if (agent::has_clock(probe)) continue;
    applies = true;
    probe.options.min_wait_ns = static_cast<uint64_t>(min_wait_ns);
    probe.options.kernel_threads = arguments.has("kernel-threads");
    probe.options.lock_addresses = arguments.has("lock-addresses");
  }
  recording.fold_idle = !arguments.has("keep-idle");
  for (const char* flag : {"min-wait", "kernel-threads", "keep-idle", "lock-addresses"}) {
    if (arguments.has(flag) && !applies) {
      return Error{ErrorCode::kUsage,
                   fmt::format("--{} applies to none of the chosen events", flag),
                   "add -e off-cpu"};
    }
  }
  return {};
}

Result<Plan> plan_of(const Arguments& arguments, Console& console) {
  constexpr const char* kTargets =
      "try vesta record -p PID|NAME, vesta record -a, or vesta record -- COMMAND";
  if (arguments.words_before_dashes != 0) return bare_word(arguments.positional[0]);
  const bool has_command = !arguments.positional.empty();
  if (!has_command && !names_targets(arguments)) {
    return Error{ErrorCode::kUsage, "nothing to record: give -p PID|NAME, -a or a command",
                 kTargets};
  }
  if (has_command && names_targets(arguments))
    return Error{ErrorCode::kUsage, "cannot combine a command with other targets", kTargets};
  Plan plan;
  agent::RecordingOptions& recording = plan.recording;
  plan.has_command = has_command;
  VESTA_ASSIGN(plan.duration_ns,
               duration_of(arguments, "duration", has_command ? 0 : kDefaultDurationNs));
  VESTA_TRY(apply_sampling_flags(arguments, console, recording));
  VESTA_TRY(apply_wait_flags(arguments, recording));
  recording.per_thread = arguments.has("per-thread");
  plan.output = arguments.get("output", default_output(recording.profiles));
  // Standard output has no ending to choose a format by.
  plan.encoding.format = arguments.get("format", plan.output == "-" ? "pprof" : "");
  VESTA_TRY(check_output(plan));
  if (has_command) {
    plan.what = std::string(base_name(arguments.positional[0]));
    return plan;
  }
  VESTA_ASSIGN(const ChosenTargets chosen, choose_targets(arguments));
  recording.sampling.whole_host = chosen.whole_host;
  recording.process_frames = chosen.whole_host;
  recording.sampling.targets = chosen.options;
  plan.what = chosen.what;
  if (chosen.is_looked_up) console.note(fmt::format("recording {}", plan.what));
  return plan;
}

// What tables and pictures show: of the first kind that has samples, the main column.
Result<FrameProfile> frames_of(const ProfileBatch& batch, const Plan& plan) {
  size_t shown = 0;
  while (batch.profiles[shown].samples.size() == 0) ++shown;
  const agent::ProbeKind& kind = *plan.recording.profiles[shown].kind;
  const auto shared = std::make_shared<const ProfileBatch>(batch);
  VESTA_ASSIGN(const TypeInfo type,
               find_type(list_types(*shared),
                         fmt::format("{}:{}", kind.profile, kind.columns[kind.main_column].type)));
  return resolve_frames(select_type(shared, type), {});
}

// A recording made under sudo belongs to who typed sudo.
void give_to_invoking_user(const std::string& path) {
  const char* uid = std::getenv("SUDO_UID");
  const char* gid = std::getenv("SUDO_GID");
  if (::geteuid() != 0 || uid == nullptr || gid == nullptr || path == "-") return;
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  (void)!::lchown(path.c_str(), static_cast<uid_t>(std::atoi(uid)),
                  static_cast<gid_t>(std::atoi(gid)));
}

Result<std::string> encode(const ProfileBatch& batch, const FrameProfile& frames,
                           const Plan& plan) {
  if (const PictureFormat* picture = picture_format_for_path(plan.output)) {
    PictureOptions options;
    options.title = plan.what;
    return draw_flamegraph(frames, *picture, options);
  }
  return encode_for_path(batch, plan.output, plan.encoding);
}

bool is_costly(const Plan& plan) {
  return std::ranges::any_of(plan.recording.sampling.probes, [](const agent::ProbeRequest& probe) {
    return probe.options.rate > kCostlyFrequency;
  });
}

// What is only known while it still samples.
struct Ending {
  bool targets_ended = false;
  agent::Sampling::Cost cost;
};

// Of the probes that run often. Each run of a clock's program stands for one period of CPU time,
// whoever used it.
std::string cost_text(const Plan& plan, const agent::Recording::Facts& facts,
                      const agent::Sampling::Cost& cost) {
  std::string text;
  for (size_t i = 0; i < cost.probes.size(); ++i) {
    const auto& [ns, runs] = cost.probes[i];
    if (plan.recording.sampling.probes[i].options.rate <= kCostlyFrequency || runs == 0) continue;
    text += fmt::format(
        "sampling cost {} of the CPUs' busy time in the kernel ({} per sample), and {} in Vesta\n",
        format_percent(static_cast<double>(ns), static_cast<double>(runs * facts.probes[i].period)),
        format_value(static_cast<int64_t>(ns / runs), "nanoseconds"),
        format_value(static_cast<int64_t>(cost.own_ns), "nanoseconds"));
  }
  return text;
}

// "99 Hz, cpu-clock".
std::string source_text(const agent::Sampling::ProbeState& state) {
  const std::string rate = state.rate == 0 ? "" : fmt::format("{} Hz, ", state.rate);
  return fmt::format("{}{}{}", rate, state.source.name,
                     state.source.fallback_reason.empty()
                         ? ""
                         : fmt::format(", {}", state.source.fallback_reason));
}

// "9.9s of CPU in 990 samples (99 Hz, cpu-clock".
std::string profile_text(const agent::ProfileRequest& request, const agent::Recording::Facts& facts,
                         const Profile& profile) {
  const agent::ProbeKind& kind = *request.kind;
  uint64_t samples = 0;
  std::vector<std::string> sources;
  for (const uint32_t probe : request.probes) {
    samples += facts.probes[probe].samples;
    sources.push_back(source_text(facts.probes[probe]));
  }
  return fmt::format(
      "{} of {} in {} samples ({}",
      format_value(total_of(profile, kind.main_column), kind.columns[kind.main_column].unit),
      kind.title, format_count(samples), fmt::join(sources, "; "));
}

std::string summary(const Plan& plan, const agent::Recording& recording,
                    const agent::Recording::Progress& progress, const Ending& ending,
                    const ProfileBatch& batch, const FrameProfile& frames, const Console& console) {
  const agent::Recording::Facts facts = recording.facts();
  const std::string duration = format_value(batch.profiles[0].duration_ns, "nanoseconds");
  const std::vector<agent::ProfileRequest>& profiles = plan.recording.profiles;
  std::string text =
      fmt::format("\nrecorded {} for {}: {}, first after {})\n", plan.what, duration,
                  profile_text(profiles[0], facts, batch.profiles[0]),
                  format_value(static_cast<int64_t>(facts.first_sample_ns), "nanoseconds"));
  for (size_t i = 1; i < profiles.size(); ++i)
    text += fmt::format("with {})\n", profile_text(profiles[i], facts, batch.profiles[i]));
  if (ending.targets_ended)
    text += fmt::format("ended after {}: all recorded processes have ended\n", duration);
  text += coverage_text(progress);
  text += cost_text(plan, facts, ending.cost);
  if (!facts.kernel_problem.empty())
    text += fmt::format("kernel functions have no names: {}\n", facts.kernel_problem);
  if (!facts.runtime_problem.empty()) {
    text += fmt::format("a runtime is not supported, its functions have no names: {}\n",
                        facts.runtime_problem);
  }
  if (!facts.cache_problem.empty())
    text += fmt::format("cannot cache unwind tables: {}\n", facts.cache_problem);
  ReportOptions report;
  report.style = console.err_style();
  report.max_rows = kSummaryRows;
  text += "\n" + top_report(frames, TopOrder::kByFlat, report);
  return text;
}

Ending record_until_done(const Plan& plan, agent::Recording& recording,
                         std::optional<ChildProcess>& child, Console& console) {
  const auto start = std::chrono::steady_clock::now();
  ProgressLine line(console);
  Ending ending;
  while (!Interrupt::came()) {
    const int64_t elapsed_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now() - start)
                                   .count();
    if (plan.duration_ns != 0 && elapsed_ns >= plan.duration_ns) break;
    if (child ? child->poll().has_value() : recording.targets_ended()) {
      ending.targets_ended = !child;
      break;
    }
    if (line.is_visible()) line.show(elapsed_ns, plan.duration_ns, recording.progress());
    // Nothing to show, and nothing that may end: sleep as long as there is.
    const int64_t longest_ms =
        line.is_visible() || !plan.recording.sampling.whole_host ? kProgressMs : kQuietMs;
    const int64_t left_ms =
        plan.duration_ns == 0 ? longest_ms : (plan.duration_ns - elapsed_ns) / 1'000'000 + 1;
    Interrupt::wait(static_cast<int>(std::min<int64_t>(longest_ms, left_ms)));
  }
  line.clear();
  ending.cost = recording.cost();
  return ending;
}

// Counted for high rates only: counting costs a little by itself, and is not for everyone to do.
UniqueFd count_cost(const Plan& plan) {
  if (!is_costly(plan)) return {};
  auto counting = agent::count_bpf_run_time();
  return counting.ok() ? std::move(*counting) : UniqueFd();
}

Error no_samples(const Plan& plan, const Ending& ending) {
  const agent::ProbeRequest& first = plan.recording.sampling.probes[0];
  const std::string_view title = first.kind->title;
  if (const agent::ProbeKind& kind = *plan.recording.profiles[0].kind; kind.view != nullptr) {
    return {ErrorCode::kNoData,
            fmt::format("{} had no {} during the recording", plan.what, kind.title),
            "record longer (-d), or see where it waits with -e off-cpu"};
  }
  if (!agent::has_clock(first) && !ending.targets_ended) {
    return {ErrorCode::kNoData, fmt::format("{} did not wait during the recording", plan.what),
            "record longer (-d)"};
  }
  if (ending.targets_ended) {
    return {ErrorCode::kNoData,
            fmt::format("{} ended without using {} time during the recording", plan.what, title),
            "try vesta record -- COMMAND, which records a command from its first instruction"};
  }
  return {ErrorCode::kNoData,
          fmt::format("{} used no {} time during the recording", plan.what, title),
          "record longer (-d), or more often (-F 999)"};
}

Status serve(const FrameProfile& frames, const Plan& plan, Console& console) {
  PictureOptions options;
  options.title = plan.what;
  VESTA_ASSIGN(PageServer server,
               PageServer::open(draw_flamegraph(frames, PictureFormat::kHtml, options)));
  console.note(fmt::format("open {}  (Ctrl-C stops)", server.url()));
  Interrupt::clear();
  server.serve([] { return Interrupt::came(); });
  return {};
}

Result<int> run_record(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(Plan plan, plan_of(arguments, console));
  std::optional<ChildProcess> child;
  if (plan.has_command) {
    VESTA_ASSIGN(ChildProcess prepared, ChildProcess::prepare(arguments.positional));
    child.emplace(std::move(prepared));
    plan.recording.sampling.targets.held_pids = {static_cast<uint32_t>(child->pid())};
  }
  const Interrupt interrupt;
  const UniqueFd counting = count_cost(plan);
  VESTA_ASSIGN(const std::unique_ptr<agent::Recording> recording,
               agent::Recording::start(plan.recording));
  if (child) VESTA_TRY(child->run());
  const Ending ending = record_until_done(plan, *recording, child, console);
  VESTA_ASSIGN(const ProfileBatch batch, recording->finish());
  if (child) {
    const std::optional<int> status = child->poll();
    const std::string outcome = status ? describe_wait_status(*status) : "is still running";
    if (!outcome.empty()) console.note(fmt::format("{} {}", plan.what, outcome));
  }
  for (const uint32_t pid : recording->facts().ended_early)
    console.note(fmt::format("process {} ended before recording began", pid));
  const agent::Recording::Progress progress = recording->progress();
  if (std::ranges::all_of(batch.profiles,
                          [](const Profile& profile) { return profile.samples.size() == 0; }))
    return no_samples(plan, ending);
  VESTA_ASSIGN(const FrameProfile frames, frames_of(batch, plan));
  VESTA_ASSIGN(const std::string bytes, encode(batch, frames, plan));
  VESTA_TRY(write_file(plan.output, bytes));
  give_to_invoking_user(plan.output);
  console.tell(summary(plan, *recording, progress, ending, batch, frames, console));
  if (plan.output != "-") {
    console.note(fmt::format("wrote {}", plan.output));
    if (picture_format_for_path(plan.output) == nullptr) {
      console.note(
          fmt::format("next: vesta flame {0}, or vesta convert {0} -o flame.html", plan.output));
    }
  }
  if (arguments.has("open")) VESTA_TRY(serve(frames, plan, console));
  return kOk;
}

std::vector<Flag> own_flags() {
  return {event_flag(),
          {"duration", 'd', "TIME", "duration: 30s, 2m; 0: until Ctrl-C"},
          {"output", 'o', "FILE",
           fmt::format("output file (default: {}); its extension selects the format: {}",
                       default_output(agent::profiles_of(agent::default_probes())),
                       writable_endings())},
          {"format", 0, "FORMAT", "output format, if the extension does not determine it",
           writable_format_names()},
          {"min-wait", 0, "TIME", "kinds of waits: drop shorter waits: 1ms, 50us (default: 0)"},
          {"kernel-threads", 0, "", "kinds of waits: include threads of the kernel"},
          {"lock-addresses", 0, "", "kinds of waits: label waits for locks with lock.address"},
          {"keep-idle", 0, "", "off-cpu, wall: do not fold waits of idle threads under [idle]"},
          {"per-thread", 0, "", "label samples with their thread (thread.name and thread.id)"},
          {"open", 0, "", "serve the flame graph on a local port and print its address"}};
}

}  // namespace

Command record_command() {
  Command c;
  c.name = "record";
  c.summary = "Profile a process, a command or the whole host now";
  c.arguments = "[-- COMMAND…]";
  c.description =
      "Samples stacks with eBPF, without stopping or changing the target. Records for 10 seconds "
      "(-d changes this), or a command until it ends. Stops early when all targets have ended or "
      "at Ctrl-C; the profile is still written. Several targets are recorded together, and so are "
      "their children. Needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE (see vesta doctor).";
  c.examples = {
      "vesta record -p nginx -d 30s  # every process of that name; by id: -p 1234",
      "vesta record -a -o host.html  # the whole host, as a flame graph page",
      "vesta record -F 499 -- python3 job.py",
      "vesta record -e cpu,off-cpu -p nginx  # CPU time, and where threads wait and for what",
      "vesta record -e wall -p nginx  # all the time of every thread in one profile",
      "vesta record --systemd-unit nginx --container 3f2a9c  # a systemd unit and a container",
      "vesta record -p 1234 --open  # open the result in a browser"};
  c.flags = with_flags(target_flags(), {own_flags(), sampling_flags()});
  c.run = run_record;
  return c;
}

}  // namespace vesta::cli
