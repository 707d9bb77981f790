#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <optional>

#include "agent/recording/recording.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/record/child_process.h"
#include "cli/record/interrupt.h"
#include "cli/record/page_server.h"
#include "cli/record/progress_line.h"
#include "formats/registry.h"
#include "formats/table/report.h"
#include "profile/frame_name.h"
#include "profile/frame_profile.h"
#include "profile/merged_profile.h"
#include "unwind/table_cache.h"

namespace vesta::cli {
namespace {

constexpr int64_t kDefaultDurationNs = 10'000'000'000;
constexpr int64_t kMaxFrequency = 999;
constexpr int64_t kDefaultFrequency = 99;
constexpr int64_t kHighFrequency = 199;
constexpr uint32_t kLargeRingBytes = 4U << 20;
constexpr size_t kSummaryRows = 10;
constexpr int kProgressMs = 100;
constexpr int kQuietMs = 1000;
constexpr const char* kDefaultOutput = "vesta-cpu.pb.gz";

struct Plan {
  RecordingOptions recording;
  int64_t duration_ns = 0;  // 0 = until the command ends or Ctrl-C
  std::string output;
  EncodeOptions encoding;
  std::string what;  // for people
};

Result<std::vector<uint32_t>> parse_pids(std::string_view text) {
  std::vector<uint32_t> pids;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    uint32_t pid = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
    if (error != std::errc() || end != word.data() + word.size() || pid == 0 ||
        pid > static_cast<uint32_t>(std::numeric_limits<pid_t>::max())) {
      return Error{ErrorCode::kUsage, fmt::format("'{}' is no process id", word),
                   "-p takes numbers, for example -p 1234,5678"};
    }
    pids.push_back(pid);
  }
  if (pids.empty()) return Error{ErrorCode::kUsage, "-p needs a process id", "for example -p 1234"};
  return pids;
}

DemangleStyle demangle_style(const std::string& word) {
  if (word == "full") return DemangleStyle::kFull;
  return word == "off" ? DemangleStyle::kOff : DemangleStyle::kShort;
}

ClockSource clock_source(const std::string& word) {
  if (word == "cpu-clock") return ClockSource::kSoftware;
  return word == "ref-cycles" ? ClockSource::kHardware : ClockSource::kAuto;
}

Result<Plan> plan_of(const Arguments& arguments) {
  const int targets = (arguments.has("pid") ? 1 : 0) + (arguments.has("all") ? 1 : 0) +
                      (arguments.positional.empty() ? 0 : 1);
  if (targets != 1) {
    return Error{ErrorCode::kUsage,
                 targets == 0 ? "what shall be recorded?"
                              : "only one of -p, -a and a command can be recorded",
                 "vesta record -p PID, vesta record -a, or vesta record -- COMMAND"};
  }
  Plan plan;
  RecordingOptions& recording = plan.recording;
  if (arguments.has("pid")) {
    VESTA_ASSIGN(recording.sampling.pids, parse_pids(arguments.get("pid")));
    plan.what = fmt::format("process {}", arguments.get("pid"));
  } else if (arguments.has("all")) {
    recording.sampling.whole_host = true;
    recording.process_frames = true;
    plan.what = "the whole host";
  } else {
    plan.what = std::string(base_name(arguments.positional[0]));
  }
  plan.duration_ns = arguments.positional.empty() ? kDefaultDurationNs : 0;
  if (arguments.has("duration")) {
    const auto duration = parse_duration_ns(arguments.get("duration"));
    if (!duration || *duration < 0) {
      return Error{ErrorCode::kUsage, fmt::format("'{}' is no duration", arguments.get("duration")),
                   "for example -d 30s, -d 2m, or -d 0 for until Ctrl-C"};
    }
    plan.duration_ns = *duration;
  }
  VESTA_ASSIGN(const int64_t frequency,
               arguments.integer("frequency", kDefaultFrequency, 1, kMaxFrequency));
  recording.sampling.frequency = static_cast<uint32_t>(frequency);
  if (frequency > kHighFrequency) recording.sampling.ring_bytes = kLargeRingBytes;
  recording.sampling.clock = clock_source(arguments.get("clock"));
  recording.sampling.kernel_stacks = !arguments.has("no-kernel");
  recording.per_thread = arguments.has("per-thread");
  SymbolOptions& symbols = recording.symbolizer.symbols;
  symbols.demangle = demangle_style(arguments.get("demangle"));
  symbols.inlines = !arguments.has("no-inlines");
  // Only when the environment names servers.
  if (auto debuginfod = Debuginfod::open({}); debuginfod.ok())
    symbols.debuginfod = std::move(*debuginfod);
  recording.sampling.cache_folder = UnwindTableCache::default_folder();
  plan.output = arguments.get("output", kDefaultOutput);
  // Standard output has no ending to choose a format by.
  plan.encoding.format = arguments.get("to", plan.output == "-" ? "pprof" : "");
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

std::string summary(const Plan& plan, const Recording& recording,
                    const Recording::Progress& progress, const ProfileBatch& batch,
                    const FrameProfile& frames, const Console& console) {
  const Recording::Facts facts = recording.facts();
  const Profile& profile = batch.profiles[0];
  std::string text = fmt::format(
      "\nrecorded {} for {}: {} of CPU in {} samples ({} Hz, {}{}, first after {})\n", plan.what,
      format_value(profile.duration_ns, "nanoseconds"),
      format_value(total_of(profile, 1), "nanoseconds"), format_count(progress.samples),
      plan.recording.sampling.frequency, clock_source_name(facts.clock.source),
      *facts.clock.fallback_reason == '\0' ? "" : fmt::format(", {}", facts.clock.fallback_reason),
      format_value(static_cast<int64_t>(facts.first_sample_ns), "nanoseconds"));
  text += coverage_text(progress);
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

void record_until_done(const Plan& plan, Recording& recording, std::optional<ChildProcess>& child,
                       Console& console) {
  const auto start = std::chrono::steady_clock::now();
  ProgressLine line(console);
  while (!Interrupt::came()) {
    const int64_t elapsed_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now() - start)
                                   .count();
    if (plan.duration_ns != 0 && elapsed_ns >= plan.duration_ns) break;
    if (child && child->poll()) break;
    if (line.is_visible()) line.show(elapsed_ns, plan.duration_ns, recording.progress());
    // Nobody to show anything to, and no command that may end: sleep as long as there is.
    const int64_t longest_ms = line.is_visible() || child ? kProgressMs : kQuietMs;
    const int64_t left_ms =
        plan.duration_ns == 0 ? longest_ms : (plan.duration_ns - elapsed_ns) / 1'000'000 + 1;
    Interrupt::wait(static_cast<int>(std::min<int64_t>(longest_ms, left_ms)));
  }
  line.clear();
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
  VESTA_ASSIGN(Plan plan, plan_of(arguments));
  VESTA_TRY(check_output(plan));
  std::optional<ChildProcess> child;
  if (!arguments.positional.empty()) {
    VESTA_ASSIGN(ChildProcess prepared, ChildProcess::prepare(arguments.positional));
    child.emplace(std::move(prepared));
    plan.recording.sampling.pids = {static_cast<uint32_t>(child->pid())};
  }
  const Interrupt interrupt;
  VESTA_ASSIGN(const std::unique_ptr<Recording> recording, Recording::start(plan.recording));
  if (child) VESTA_TRY(child->run());
  record_until_done(plan, *recording, child, console);
  VESTA_ASSIGN(const ProfileBatch batch, recording->finish());
  if (child) {
    const std::optional<int> status = child->poll();
    const std::string ending = status ? describe_wait_status(*status) : "is still running";
    if (!ending.empty()) console.note(fmt::format("{} {}", plan.what, ending));
  }
  const Recording::Progress progress = recording->progress();
  if (batch.profiles[0].samples.size() == 0) {
    return Error{ErrorCode::kNoData, fmt::format("{} used no CPU while it was recorded", plan.what),
                 "record longer (-d), or more often (-F 999)"};
  }
  VESTA_ASSIGN(const FrameProfile frames, frames_of(batch));
  VESTA_ASSIGN(const std::string bytes, encode(batch, frames, plan));
  VESTA_TRY(write_file(plan.output, bytes));
  give_to_invoking_user(plan.output);
  console.tell(summary(plan, *recording, progress, batch, frames, console));
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

}  // namespace

Command record_command() {
  Command c;
  c.name = "record";
  c.summary = "Profile a process, a command or the whole host now";
  c.arguments = "[-- COMMAND…]";
  c.description =
      "Samples stacks through the kernel, without stopping or changing what runs. -p and -a record "
      "for 10 seconds unless -d says "
      "otherwise, a command until it ends; Ctrl-C ends earlier and still writes. Children of what "
      "is recorded are recorded too. "
      "Needs root, or CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE (vesta doctor shows how).";
  c.examples = {"vesta record -p 1234 -d 30s",
                "vesta record -a -o host.html  # the whole host, as a page with a flame graph",
                "vesta record -F 499 -- python3 job.py",
                "vesta record -p 1234 --open  # look at it in a browser"};
  c.flags =
      with_flags({{"pid", 'p', "PID,…", "these processes"},
                  {"all", 'a', "", "every process on this host"},
                  {"duration", 'd', "TIME", "how long: 30s, 2m; 0 for until Ctrl-C"},
                  {"frequency", 'F', "HZ", "samples per second and CPU, 1 to 999 (default: 99)"},
                  {"output", 'o', "FILE",
                   fmt::format("where to write (default: {}); the ending chooses the format: {}",
                               kDefaultOutput, writable_endings())},
                  {"to", 0, "FORMAT", "format to write when the ending does not tell",
                   writable_format_names()},
                  {"no-kernel", 0, "", "leave out what happens inside the kernel"},
                  {"per-thread", 0, "", "keep threads apart, by the labels thread and tid"},
                  {"open", 0, "", "serve the flame graph on this machine and print its address"},
                  {"demangle",
                   0,
                   "STYLE",
                   "C++ and Rust names: short (default), full, or off",
                   {"short", "full", "off"}},
                  {"no-inlines", 0, "", "no frames for inlined functions"},
                  {"clock",
                   0,
                   "CLOCK",
                   "what makes samples: auto (default), cpu-clock or ref-cycles (hardware)",
                   {"auto", "cpu-clock", "ref-cycles"}}},
                 {});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
