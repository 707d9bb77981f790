#include "server/rpc/router.h"

#include "server/http/http_text.h"

namespace vesta::server {

Router::Router(const Routes& routes) {
  for (const HttpRoute& route : routes.http()) add(route.path, route.method, {&route, nullptr});
  for (const RpcMethod& method : routes.rpc()) {
    add(method.path, "POST", {nullptr, &method});
    // Connect's GET is for calls without side effects.
    if (method.scope == Scope::kRead) add(method.path, "GET", {nullptr, &method});
    rpc_.emplace(method.path, Endpoint{nullptr, &method});
  }
}

void Router::add(const std::string& path, const std::string& method, Endpoint endpoint) {
  Node* node = &root_;
  std::vector<std::string> names;
  for (const std::string_view segment : split_path(path)) {
    if (segment.size() > 2 && segment.front() == '{' && segment.back() == '}') {
      names.emplace_back(segment.substr(1, segment.size() - 2));
      if (node->any.empty()) node->any.emplace_back();
      node = &node->any.front();
    } else {
      node = &node->literals[std::string(segment)];
    }
  }
  node->methods.emplace(method, endpoint);
  node->names = std::move(names);
}

const Router::Node* Router::walk(const Node& node, const std::vector<std::string>& segments,
                                 size_t depth, std::vector<std::string_view>& values) {
  if (depth == segments.size()) return node.methods.empty() ? nullptr : &node;
  if (const auto next = node.literals.find(segments[depth]); next != node.literals.end()) {
    if (const Node* found = walk(next->second, segments, depth + 1, values)) return found;
  }
  if (node.any.empty() || segments[depth].empty()) return nullptr;
  values.emplace_back(segments[depth]);
  if (const Node* found = walk(node.any.front(), segments, depth + 1, values)) return found;
  values.pop_back();
  return nullptr;
}

Router::Match Router::find(std::string_view method,
                           const std::vector<std::string>& segments) const {
  Match match;
  std::vector<std::string_view> values;
  const Node* node = walk(root_, segments, 0, values);
  if (node == nullptr) return match;
  auto found = node->methods.find(method);
  if (found == node->methods.end() && method == "HEAD") found = node->methods.find("GET");
  if (found == node->methods.end()) {
    for (const auto& [name, endpoint] : node->methods) {
      match.allow += (match.allow.empty() ? "" : ", ") + name;
      if (name == "GET" && !node->methods.contains("HEAD")) match.allow += ", HEAD";
    }
    return match;
  }
  match.endpoint = &found->second;
  for (size_t i = 0; i < values.size() && i < node->names.size(); ++i) {
    match.path_fields.emplace_back(node->names[i], values[i]);
  }
  return match;
}

const Endpoint* Router::find_rpc(std::string_view path) const {
  const auto found = rpc_.find(path);
  return found == rpc_.end() ? nullptr : &found->second;
}

}  // namespace vesta::server
