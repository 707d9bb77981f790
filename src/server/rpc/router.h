// Which handler a method and a path lead to. Built once from Routes, which must outlive it, and
// only read afterwards, from any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/api.h"

namespace vesta::server {

// One of the two is set.
struct Endpoint {
  const HttpRoute* http = nullptr;
  const RpcMethod* rpc = nullptr;

  std::string_view pattern() const { return http != nullptr ? http->path : rpc->path; }
  Scope scope() const { return http != nullptr ? http->scope : rpc->scope; }
};

class Router {
 public:
  explicit Router(const Routes& routes);

  struct Match {
    const Endpoint* endpoint = nullptr;  // null: no such path, or not this method
    Fields path_fields;
    std::string allow;  // methods that the path does have; empty when there is no such path
  };
  // HEAD finds what GET would. Literal segments win over {name}.
  Match find(std::string_view method, const std::vector<std::string>& segments) const;
  // The method of that gRPC path; null when there is none.
  const Endpoint* find_rpc(std::string_view path) const;

 private:
  struct Node {
    std::map<std::string, Node, std::less<>> literals;
    std::vector<Node> any;  // at most one: behind {name}
    std::map<std::string, Endpoint, std::less<>> methods;
    std::vector<std::string> names;  // of the {name}s on the way here
  };
  void add(const std::string& path, const std::string& method, Endpoint endpoint);
  static const Node* walk(const Node& node, const std::vector<std::string>& segments, size_t depth,
                          std::vector<std::string_view>& values);

  Node root_;
  std::unordered_map<std::string_view, Endpoint> rpc_;
};

}  // namespace vesta::server
