#include "config/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>
#include <map>
#include <sstream>
#include <utility>

#include "base/file.h"
#include "config/findings.h"

namespace vesta::config {
namespace {

// yaml-cpp reads nested values by calling itself.
constexpr size_t kMaxDepth = 64;
// An alias stands for all that is behind its anchor: a few lines can mean gigabytes.
constexpr size_t kMaxNodes = 200'000;
constexpr size_t kMaxWordBytes = size_t{16} << 20;
// Longer than what Kubernetes allows for a label's name, and short enough to be written as
// KEY: VALUE, which YAML allows up to 1024 bytes.
constexpr size_t kMaxKeyBytes = 400;

// Carries an error out of yaml-cpp's parser; caught in parse_yaml().
struct Refusal {
  Error error;
};

Position position_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<uint32_t>(mark.line + 1), static_cast<uint32_t>(mark.column + 1)};
}

// Builds the tree from the parser's events, with a stack of its own.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& name) : name_(name) {}

  Node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node node;
    node.at = position_of(mark);
    add(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check_tag(mark, tag);
    Node node = Node::of_word(value, tag != "?");
    node.at = position_of(mark);
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Node::Kind::kList);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, Node::Kind::kMap);
  }
  void OnMapEnd() override { close(); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(position_of(mark), "an alias refers to itself");
    if (stack_.size() + depth_of(found->second) > kMaxDepth) {
      refuse(position_of(mark), "values are nested too deeply");
    }
    charge(found->second, position_of(mark));
    add(found->second, 0);
  }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    Member member;  // the key that waits for its value
    std::map<std::string, uint32_t> lines;
  };

  [[noreturn]] void refuse(Position at, std::string_view what, std::string hint = {}) const {
    throw Refusal{located(name_, at, Error{ErrorCode::kUsage, std::string(what), std::move(hint)})};
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.empty() || tag == "?" || tag == "!" || tag.starts_with("tag:yaml.org,2002:")) return;
    refuse(position_of(mark), fmt::format("the tag {} is not supported", shown(tag)));
  }

  static size_t depth_of(const Node& node) {
    size_t depth = 0;
    for (const Node& item : node.items) depth = std::max(depth, depth_of(item));
    for (const Member& member : node.members) depth = std::max(depth, depth_of(member.value));
    return depth + 1;
  }

  void charge_one(size_t bytes, Position at) {
    bytes_ += bytes;
    if (++nodes_ > kMaxNodes || bytes_ > kMaxWordBytes) {
      refuse(at, "the configuration is too large",
             "aliases (*name) count as the values they refer to");
    }
  }

  // All that an alias stands for, before it is copied. `at` is the alias' place.
  void charge(const Node& node, Position at) {
    charge_one(node.word.size(), at);
    for (const Node& item : node.items) charge(item, at);
    for (const Member& member : node.members) {
      charge_one(member.key.size(), at);
      charge(member.value, at);
    }
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            Node::Kind kind) {
    check_tag(mark, tag);
    const Position at = position_of(mark);
    if (stack_.size() >= kMaxDepth) refuse(at, "values are nested too deeply");
    charge_one(0, at);
    Open level;
    level.node.kind = kind;
    level.node.at = at;
    level.anchor = anchor;
    stack_.push_back(std::move(level));
  }

  void close() {
    Open level = std::move(stack_.back());
    stack_.pop_back();
    add(std::move(level.node), level.anchor);
  }

  void add(Node node, YAML::anchor_t anchor) {
    if (node.is_word() || node.is_nothing()) charge_one(node.word.size(), node.at);
    if (anchor != 0) {
      charge(node, node.at);
      anchors_[anchor] = node;
    }
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& level = stack_.back();
    if (level.node.is_list()) {
      level.node.items.push_back(std::move(node));
    } else if (!level.has_key) {
      take_key(level, node);
    } else {
      // Where nothing is written, the parser stands at the next thing already.
      if (node.is_nothing()) node.at = level.member.at;
      level.member.value = std::move(node);
      level.node.members.push_back(std::move(level.member));
      level.has_key = false;
    }
  }

  void take_key(Open& level, const Node& node) const {
    const bool has_control = std::ranges::any_of(
        node.word, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (!node.is_word() || has_control || node.word.size() > kMaxKeyBytes) {
      refuse(node.at, "a key must be a plain value",
             fmt::format("up to {} bytes in one line", kMaxKeyBytes));
    }
    const auto [earlier, is_new] = level.lines.emplace(node.word, node.at.line);
    if (!is_new) {
      refuse(node.at, fmt::format("duplicate key '{}'", shown(node.word)),
             fmt::format("the first one is in line {}", earlier->second));
    }
    level.member = {node.word, node.at, {}};
    level.has_key = true;
  }

  const std::string& name_;
  Node root_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, Node> anchors_;
  size_t nodes_ = 0;
  size_t bytes_ = 0;
};

// The first line that is indented by a tab, which YAML forbids and parsers explain badly.
Position tab_indent(std::string_view text) {
  Position at{1, 1};
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const size_t tab = line.find_first_not_of(' ');
    if (tab != std::string_view::npos && line[tab] == '\t') {
      const size_t first = line.find_first_not_of(" \t\r");
      if (first != std::string_view::npos && line[first] != '#') {
        at.column = static_cast<uint32_t>(tab + 1);
        return at;
      }
    }
    ++at.line;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return {};
}

Result<Document> parse(std::string_view text, const std::string& name) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  TreeBuilder builder(name);
  parser.HandleNextDocument(builder);
  Document document{name, builder.take()};
  TreeBuilder rest(name);
  if (parser.HandleNextDocument(rest)) {
    const Node second = rest.take();
    return located(
        name, second.at,
        Error{ErrorCode::kUsage, "multiple documents are not supported", "remove the line ---"});
  }
  return document;
}

}  // namespace

Result<Document> parse_yaml(std::string_view text, const std::string& name) {
  if (text.size() > kMaxFileBytes) {
    return Error{
        ErrorCode::kUsage,
        fmt::format("{}: {} bytes exceed the limit of a configuration file", name, text.size()),
        {}};
  }
  if (const Position tab = tab_indent(text); tab.line != 0) {
    return located(name, tab,
                   Error{ErrorCode::kUsage, "the line is indented with a tab", "use spaces"});
  }
  try {
    return parse(text, name);
  } catch (const Refusal& refusal) {
    return refusal.error;
  } catch (const YAML::Exception& e) {
    return located(name, position_of(e.mark),
                   Error{ErrorCode::kUsage, fmt::format("not YAML: {}", e.msg), {}});
  } catch (const std::exception& e) {
    return Error{ErrorCode::kUsage, fmt::format("{}: not YAML: {}", name, e.what()), {}};
  }
}

Result<Document> load_yaml(const std::string& path) {
  const auto file = InputFile::open(path, kMaxFileBytes);
  if (!file) return file.error();
  return parse_yaml(file->bytes(), path);
}

}  // namespace vesta::config
