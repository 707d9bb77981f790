#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>

#include "agent/kernel/bpf_stats.h"
#include "agent/recording/recording.h"
#include "base/file.h"
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
#include "formats/table/report.h"
#include "profile/frame_name.h"
#include "profile/frame_profile.h"
#include "profile/merged_profile.h"

namespace vesta::cli {
namespace {

constexpr int64_t kDefaultDurationNs = 10'000'000'000;
constexpr size_t kSummaryRows = 10;
constexpr int kProgressMs = 100;
constexpr int kQuietMs = 1000;
constexpr const char* kDefaultOutput = "vesta-cpu.pb.gz";

struct Plan {
  RecordingOptions recording;
  int64_t duration_ns = 0;  // 0 = until the targets end or Ctrl-C
  bool has_command = false;
  std::string output;
  EncodeOptions encoding;
  std::string what;  // for people
};

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
                 "choose another place with -o"};
  }
  return {};
}

// What may follow "vesta record" besides flags is a command behind "--": a bare word is rather the
// name of something that runs already.
Error bare_word(const std::string& word) {
  return {ErrorCode::kUsage, fmt::format("record has no use for '{}'", word),
          is_process_name(word)
              ? fmt::format("try vesta record -p {0}, which records the running {0}; a command "
                            "follows --: vesta record -- {0}",
                            word)
              : fmt::format("try vesta record -- {}, which runs the command; -p PID|NAME records "
                            "what runs already",
                            word)};
}

Result<Plan> plan_of(const Arguments& arguments, Console& console) {
  constexpr const char* kTargets =
      "vesta record -p PID|NAME, vesta record -a, or vesta record -- COMMAND";
  if (arguments.words_before_dashes != 0) return bare_word(arguments.positional[0]);
  const bool has_command = !arguments.positional.empty();
  if (!has_command && !names_targets(arguments, TargetFlags::kAlone))
    return Error{ErrorCode::kUsage, "record needs a target", kTargets};
  if (has_command && names_targets(arguments, TargetFlags::kAlone))
    return Error{ErrorCode::kUsage, "a command is recorded alone, without other targets", kTargets};
  Plan plan;
  RecordingOptions& recording = plan.recording;
  plan.has_command = has_command;
  VESTA_ASSIGN(plan.duration_ns,
               duration_of(arguments, "duration", has_command ? 0 : kDefaultDurationNs));
  VESTA_TRY(apply_sampling_flags(arguments, console, recording));
  recording.per_thread = arguments.has("per-thread");
  plan.output = arguments.get("output", kDefaultOutput);
  // Standard output has no ending to choose a format by.
  plan.encoding.format = arguments.get("to", plan.output == "-" ? "pprof" : "");
  VESTA_TRY(check_output(plan));
  if (has_command) {
    plan.what = std::string(base_name(arguments.positional[0]));
    return plan;
  }
  VESTA_ASSIGN(const ChosenTargets chosen, choose_targets(arguments, TargetFlags::kAlone));
  recording.sampling.whole_host = chosen.whole_host;
  recording.process_frames = chosen.whole_host;
  recording.sampling.targets = chosen.options;
  plan.what = chosen.what;
  if (chosen.is_looked_up) console.note(fmt::format("recording {}", plan.what));
  return plan;
}

Result<FrameProfile> frames_of(const ProfileBatch& batch) {
  const auto shared = std::make_shared<const ProfileBatch>(batch);
  VESTA_ASSIGN(const TypeInfo type, find_type(list_types(*shared), "cpu"));
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

// What is only known while it still samples.
struct Ending {
  bool targets_ended = false;
  Sampling::Cost cost;
};

// Each run of the program stands for one period of CPU time, whoever used it.
std::string cost_text(const Plan& plan, const Sampling::Cost& cost, uint64_t period_ns) {
  if (plan.recording.sampling.frequency <= kCostlyFrequency || cost.bpf_runs == 0) return "";
  const auto busy_ns = static_cast<double>(cost.bpf_runs * period_ns);
  return fmt::format(
      "sampling cost {} of the CPUs' busy time in the kernel ({} a sample), and {} in Vesta\n",
      format_percent(static_cast<double>(cost.bpf_ns), busy_ns),
      format_value(static_cast<int64_t>(cost.bpf_ns / cost.bpf_runs), "nanoseconds"),
      format_value(static_cast<int64_t>(cost.own_ns), "nanoseconds"));
}

std::string summary(const Plan& plan, const Recording& recording,
                    const Recording::Progress& progress, const Ending& ending,
                    const ProfileBatch& batch, const FrameProfile& frames, const Console& console) {
  const Recording::Facts facts = recording.facts();
  const Profile& profile = batch.profiles[0];
  std::string text = fmt::format(
      "\nrecorded {} for {}: {} of CPU in {} samples ({} Hz, {}{}, first after {})\n", plan.what,
      format_value(profile.duration_ns, "nanoseconds"),
      format_value(total_of(profile, 1), "nanoseconds"), format_count(progress.samples),
      plan.recording.sampling.frequency, clock_source_name(facts.clock.source),
      *facts.clock.fallback_reason == '\0' ? "" : fmt::format(", {}", facts.clock.fallback_reason),
      format_value(static_cast<int64_t>(facts.first_sample_ns), "nanoseconds"));
  if (ending.targets_ended) {
    text += fmt::format("ended after {}: all recorded processes have ended\n",
                        format_value(profile.duration_ns, "nanoseconds"));
  }
  text += coverage_text(progress);
  text += cost_text(plan, ending.cost, facts.clock.period_ns);
  if (!facts.kernel_problem.empty())
    text += fmt::format("kernel functions have no names: {}\n", facts.kernel_problem);
  if (!facts.cache_problem.empty())
    text += fmt::format("unwind tables are not kept for the next time: {}\n", facts.cache_problem);
  ReportOptions report;
  report.style = console.err_style();
  report.max_rows = kSummaryRows;
  text += "\n" + top_report(frames, TopOrder::kByFlat, report);
  return text;
}

Ending record_until_done(const Plan& plan, Recording& recording, std::optional<ChildProcess>& child,
                         Console& console) {
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
  if (plan.recording.sampling.frequency <= kCostlyFrequency) return {};
  auto counting = count_bpf_run_time();
  return counting.ok() ? std::move(*counting) : UniqueFd();
}

Error no_cpu(const Plan& plan, const Ending& ending) {
  if (ending.targets_ended) {
    return {ErrorCode::kNoData,
            fmt::format("{} ended and used no CPU while it was recorded", plan.what),
            "vesta record -- COMMAND records a command from its first instruction on"};
  }
  return {ErrorCode::kNoData, fmt::format("{} used no CPU while it was recorded", plan.what),
          "record longer (-d), or more often (-F 999)"};
}

Status serve(const FrameProfile& frames, const Plan& plan, Console& console) {
  PictureOptions options;
  options.title = plan.what;
  VESTA_ASSIGN(PageServer server,
               PageServer::open(draw_flamegraph(frames, PictureFormat::kHtml, options)));
  console.note(fmt::format("open {}  (Ctrl-C ends)", server.url()));
  Interrupt::clear();
  server.serve([] { return Interrupt::came(); });
  return {};
}

Result<int> run(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(Plan plan, plan_of(arguments, console));
  std::optional<ChildProcess> child;
  if (plan.has_command) {
    VESTA_ASSIGN(ChildProcess prepared, ChildProcess::prepare(arguments.positional));
    child.emplace(std::move(prepared));
    plan.recording.sampling.targets.pids = {static_cast<uint32_t>(child->pid())};
  }
  const Interrupt interrupt;
  const UniqueFd counting = count_cost(plan);
  VESTA_ASSIGN(const std::unique_ptr<Recording> recording, Recording::start(plan.recording));
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
  const Recording::Progress progress = recording->progress();
  if (batch.profiles[0].samples.size() == 0) return no_cpu(plan, ending);
  VESTA_ASSIGN(const FrameProfile frames, frames_of(batch));
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
  return {
      {"duration", 'd', "TIME", "how long: 30s, 2m; 0 for until Ctrl-C"},
      {"output", 'o', "FILE",
       fmt::format("where to write (default: {}); the ending chooses the format: {}",
                   kDefaultOutput, writable_endings())},
      {"to", 0, "FORMAT", "format to write when the ending does not tell", writable_format_names()},
      {"per-thread", 0, "", "keep threads apart, by the labels thread and tid"},
      {"open", 0, "", "serve the flame graph on this machine and print its address"}};
}

}  // namespace

Command record_command() {
  Command c;
  c.name = "record";
  c.summary = "Profile a process, a command or the whole host now";
  c.arguments = "[-- COMMAND…]";
  c.description =
      "Samples stacks through the kernel, without stopping or changing what runs. Records for 10 "
      "seconds unless -d says otherwise, a command until it ends; earlier when all that is "
      "recorded "
      "has ended, or at Ctrl-C, which still writes. Several targets are recorded together. "
      "Children "
      "of what is recorded are recorded too. "
      "Needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE (vesta doctor shows how).";
  c.examples = {"vesta record -p nginx -d 30s  # every process of that name; or by id: -p 1234",
                "vesta record -a -o host.html  # the whole host, as a page with a flame graph",
                "vesta record -F 499 -- python3 job.py",
                "vesta record --unit nginx --container 3f2a9c  # all of a unit and of a container",
                "vesta record -p 1234 --open  # look at it in a browser"};
  c.flags = with_flags(target_flags(TargetFlags::kAlone), {own_flags(), sampling_flags()});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
