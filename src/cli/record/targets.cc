#include "cli/record/targets.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "agent/lookup/cgroup_lookup.h"
#include "agent/lookup/process_lookup.h"
#include "agent/process/cgroup_folder.h"

namespace vesta::cli {
namespace {

constexpr size_t kMostShown = 8;
constexpr size_t kMostSuggested = 3;
constexpr const char* kProc = "/proc";

bool is_number(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

Result<uint32_t> id_of(std::string_view word, std::string_view kind, std::string_view hint) {
  uint32_t id = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  // As a signed number, the largest would be "everything".
  if (error != std::errc() || end != word.data() + word.size() || id == 0 ||
      id > static_cast<uint32_t>(std::numeric_limits<pid_t>::max())) {
    return Error{ErrorCode::kUsage, fmt::format("'{}' is not a valid {} id", word, kind),
                 std::string(hint)};
  }
  return id;
}

std::string list_of(const std::vector<uint32_t>& ids) {
  const size_t shown = std::min(ids.size(), kMostShown);
  std::string text =
      fmt::format("{}", fmt::join(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(shown), ", "));
  if (shown < ids.size()) text += fmt::format(" and {} more", ids.size() - shown);
  return text;
}

std::vector<agent::NamedProcess> all_processes() {
  return agent::list_named_processes(kProc, static_cast<uint32_t>(::getpid()));
}

Result<std::vector<uint32_t>> processes_called(std::string_view name) {
  const std::vector<agent::NamedProcess> all = all_processes();
  std::vector<uint32_t> found = agent::processes_named(all, name);
  if (!found.empty()) return found;
  const std::vector<std::string> near = agent::similar_names(all, name, kMostSuggested);
  return Error{ErrorCode::kNotFound, fmt::format("no process has the name '{}'", name),
               near.empty() ? "try ps -e, or vesta record -- COMMAND to start one"
                            : fmt::format("did you mean {}?", fmt::join(near, ", "))};
}

void add_what(ChosenTargets& chosen, const std::string& what) {
  if (!chosen.what.empty()) chosen.what += ", ";
  chosen.what += what;
}

Status add_processes(const Arguments& arguments, ChosenTargets& chosen) {
  std::vector<uint32_t> numbers;
  std::vector<uint32_t>& pids = chosen.options.pids;
  for (const std::string& word : arguments.list("pid")) {
    VESTA_ASSIGN(const std::vector<uint32_t> found, processes_of_word(word));
    pids.insert(pids.end(), found.begin(), found.end());
    if (is_number(word)) {
      numbers.push_back(found[0]);
      continue;
    }
    add_what(chosen, fmt::format("{} ({})", word, list_of(found)));
    chosen.is_looked_up = true;
  }
  if (!numbers.empty()) {
    add_what(chosen,
             fmt::format("process{} {}", numbers.size() == 1 ? "" : "es", list_of(numbers)));
  }
  std::ranges::sort(pids);
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return {};
}

Status add_threads(const Arguments& arguments, ChosenTargets& chosen) {
  for (const std::string& word : arguments.list("tid")) {
    VESTA_ASSIGN(const uint32_t tid, id_of(word, "thread", "try ps -eL (column LWP)"));
    chosen.options.tids.push_back(tid);
  }
  const std::vector<uint32_t>& tids = chosen.options.tids;
  if (!tids.empty())
    add_what(chosen, fmt::format("thread{} {}", tids.size() == 1 ? "" : "s", list_of(tids)));
  return {};
}

using Find = Result<std::vector<std::string>> (*)(const agent::CgroupTree&, std::string_view);

Status add_cgroups(const Arguments& arguments, const std::string& flag, std::string_view kind,
                   Find find, ChosenTargets& chosen) {
  for (const std::string& word : arguments.all(flag)) {
    if (word.empty()) return Error{ErrorCode::kUsage, fmt::format("--{} needs a value", flag), ""};
    VESTA_ASSIGN(const std::vector<std::string> folders, find({}, word));
    std::vector<uint32_t> pids;
    for (const std::string& folder : folders) {
      VESTA_ASSIGN(const agent::CgroupFolder cgroup, agent::CgroupFolder::open(folder));
      for (const uint32_t pid : cgroup.processes()) pids.push_back(pid);
      chosen.options.cgroups.push_back(folder);
    }
    add_what(chosen, fmt::format("{} {} ({})", kind, word, list_of(pids)));
    chosen.is_looked_up = true;
  }
  return {};
}

}  // namespace

std::vector<Flag> target_flags() {
  return {{"pid", 'p', "PID|NAME,…", "these processes and their children", {}, true},
          {"tid", 0, "TID,…", "only these threads", {}, true},
          {"cgroup", 0, "PATH", "all processes in this cgroup and below", {}, true},
          {"container", 0, "ID|NAME", "all processes in this container", {}, true},
          {"systemd-unit", 0, "NAME", "all processes of this systemd unit", {}, true},
          {"all", 'a', "", "every process on this host"}};
}

bool names_targets(const Arguments& arguments) {
  return std::ranges::any_of(target_flags(),
                             [&](const Flag& flag) { return arguments.has(flag.name); });
}

Result<ChosenTargets> choose_targets(const Arguments& arguments) {
  ChosenTargets chosen;
  if (arguments.has("all")) {
    const bool has_others = std::ranges::any_of(target_flags(), [&](const Flag& flag) {
      return flag.name != "all" && arguments.has(flag.name);
    });
    if (has_others) {
      return Error{ErrorCode::kUsage, "cannot combine -a with other targets",
                   "remove -a, or the other targets"};
    }
    chosen.whole_host = true;
    chosen.what = "the whole host";
    return chosen;
  }
  VESTA_TRY(add_processes(arguments, chosen));
  VESTA_TRY(add_threads(arguments, chosen));
  VESTA_TRY(add_cgroups(arguments, "cgroup", "cgroup", agent::find_cgroup, chosen));
  VESTA_TRY(add_cgroups(arguments, "container", "container", agent::find_container, chosen));
  VESTA_TRY(add_cgroups(arguments, "systemd-unit", "unit", agent::find_unit, chosen));
  return chosen;
}

Result<std::vector<uint32_t>> processes_of_word(std::string_view word) {
  constexpr std::string_view kHint = "use a process id or name, for example 1234 or nginx";
  if (word.empty())
    return Error{ErrorCode::kUsage, "'' is not a process id or name", std::string(kHint)};
  if (!is_number(word)) return processes_called(word);
  VESTA_ASSIGN(const uint32_t pid, id_of(word, "process", kHint));
  return std::vector<uint32_t>{pid};
}

bool is_process_name(std::string_view word) {
  return !agent::processes_named(all_processes(), word).empty();
}

}  // namespace vesta::cli
