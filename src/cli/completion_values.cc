#include "cli/completion_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/json_reader.h"
#include "cli/server_client.h"
#include "profile/profile_types.h"

namespace vesta::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{500};
constexpr uint64_t kMaxAnswer = uint64_t{4} << 20;
constexpr size_t kMostCandidates = 1000;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || c == '-';
}

// The texts of an array of a server's answer; of its objects, those of `member`.
std::vector<std::string> ask(const Arguments& arguments, const std::string& path, const char* list,
                             const char* member = nullptr) {
  std::vector<std::string> out;
  auto client = ServerClient::from(arguments);
  if (!client.ok()) return out;
  client->set_timeout(kPatience);
  const auto answer = client->get(path, range_of(arguments), kMaxAnswer);
  if (!answer.ok()) return out;
  const auto tree = JsonTree::parse(*answer);
  if (!tree.ok()) return out;
  for (const Json& item : tree->root()[list].list().value_or({})) {
    const auto text = (member == nullptr ? item : item[member]).text();
    if (text.ok() && out.size() < kMostCandidates) out.emplace_back(*text);
  }
  return out;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// Values are what clients sent to the server: nothing that a shell would act on reaches the line
// that a person is about to run.
bool is_harmless(std::string_view text) {
  constexpr std::string_view kAllowed = "_-./:@%+=, ";
  return std::ranges::all_of(text, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           static_cast<unsigned char>(c) >= 0x80 || kAllowed.find(c) != std::string_view::npos;
  });
}

}  // namespace

std::vector<std::string> first_words(std::string_view arguments) {
  std::vector<std::string> out;
  while (!arguments.empty()) {
    const size_t bar = arguments.find('|');
    std::string_view part = arguments.substr(0, bar);
    arguments = bar == std::string_view::npos ? "" : arguments.substr(bar + 1);
    while (part.starts_with(' ')) part.remove_prefix(1);
    const std::string_view word = part.substr(0, part.find(' '));
    if (!word.empty() && std::ranges::all_of(word, is_word)) out.emplace_back(word);
  }
  return out;
}

SelectorPlace selector_place(std::string_view typed) {
  using enum SelectorPlace::Kind;
  SelectorPlace place;
  const size_t brace = typed.find('{');
  if (brace == std::string_view::npos) {
    place.kind = kType;
    place.partial = typed;
    return place;
  }
  size_t start = brace + 1;  // of the matcher that is being typed
  size_t quote = std::string_view::npos;
  for (size_t at = start; at < typed.size(); ++at) {
    const char c = typed[at];
    if (quote != std::string_view::npos) {
      if (c == '\\') {
        ++at;
      } else if (c == '"') {
        quote = std::string_view::npos;
      }
    } else if (c == '"') {
      quote = at;
    } else if (c == ',') {
      start = at + 1;
    } else if (c == '}') {
      return place;
    }
  }
  while (start < typed.size() && typed[start] == ' ') ++start;
  if (quote == std::string_view::npos) {
    if (typed.find_first_of("=!~\"", start) != std::string_view::npos) return place;
    place.kind = kLabel;
    place.head = typed.substr(0, start);
    place.partial = typed.substr(start);
    return place;
  }
  const std::string_view name = typed.substr(start, quote - start);
  place.kind = kValue;
  place.label = name.substr(0, name.find_first_of("=!~ "));
  place.head = typed.substr(0, quote + 1);
  place.partial = typed.substr(quote + 1);
  return place;
}

std::vector<std::string> process_candidates() {
  std::vector<std::pair<int, std::string>> found;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename();
    int pid = 0;
    const auto [stop, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad != std::errc() || stop != name.data() + name.size()) continue;
    // Threads of the kernel cannot be profiled by number, and have no command line.
    std::ifstream words(it->path() / "cmdline");
    if (words.peek() == std::ifstream::traits_type::eof()) continue;
    std::ifstream comm(it->path() / "comm");
    std::string text;
    if (!std::getline(comm, text)) continue;
    std::ranges::replace_if(text, is_control, ' ');
    found.emplace_back(pid, std::move(text));
  }
  std::ranges::sort(found);
  std::vector<std::string> out;
  out.reserve(found.size());
  for (const auto& [pid, name] : found) out.push_back(fmt::format("{}\t{}", pid, name));
  return out;
}

std::vector<std::string> type_candidates(const Arguments& arguments) {
  const std::vector<std::string_view> words = short_type_names();
  std::vector<std::string> out(words.begin(), words.end());
  for (std::string& id : ask(arguments, "/api/v1/types", "types", "id"))
    out.push_back(std::move(id));
  return out;
}

std::vector<std::string> selector_candidates(const Arguments& arguments, std::string_view typed) {
  const SelectorPlace place = selector_place(typed);
  std::vector<std::string> found;
  std::string tail;
  switch (place.kind) {
    case SelectorPlace::Kind::kType:
      found = type_candidates(arguments);
      tail = "{";
      break;
    case SelectorPlace::Kind::kLabel:
      found = ask(arguments, "/api/v1/labels", "labels");
      tail = "=\"";
      break;
    case SelectorPlace::Kind::kValue:
      if (place.label.empty() || place.label.find('/') != std::string::npos) return {};
      found = ask(arguments, "/api/v1/values/" + place.label, "values");
      tail = "\"";
      break;
    case SelectorPlace::Kind::kNone:
      return {};
  }
  std::vector<std::string> out;
  for (const std::string& text : found) {
    if (text.starts_with(place.partial) && is_harmless(text))
      out.push_back(fmt::format("{}{}{}", place.head, text, tail));
  }
  return out;
}

}  // namespace vesta::cli
