// Holds openapi.json against the routes and their answers.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <map>
#include <set>

#include "formats/registry.h"
#include "profile/profile_types.h"
#include "server/native/embedded.h"
#include "server/native/route_table.h"
#include "server/native/test_call.h"

namespace vesta::server {
namespace {

using simdjson::dom::element;

class OpenApi {
 public:
  OpenApi() : root_(parser_.parse(simdjson::padded_string(kOpenApiDocument.text))) {}

  element root() const { return root_; }
  // What a "$ref" stands for; anything else is itself.
  element resolved(element item) const {
    std::string_view to;
    if (item["$ref"].get(to) != simdjson::SUCCESS) return item;
    return root_.at_pointer(to.substr(1)).value();
  }

  // What is wrong with the value, or nothing.
  std::string problem(element value, element schema, const std::string& where) const {
    schema = resolved(schema);
    std::string_view type;
    if (schema["type"].get(type) != simdjson::SUCCESS) return where + ": no type in the document";
    bool may_be_null = false;
    if (value.is_null() && schema["nullable"].get(may_be_null) == simdjson::SUCCESS && may_be_null)
      return "";
    if (type == "object") return problem_of_object(value, schema, where);
    if (type == "array") {
      if (!value.is_array()) return where + " is no array";
      size_t at = 0;
      for (const element item : value.get_array()) {
        std::string found =
            problem(item, schema["items"].value(), where + "[" + std::to_string(at++) + "]");
        if (!found.empty()) return found;
      }
      return "";
    }
    const bool fits = type == "string"    ? value.is_string()
                      : type == "boolean" ? value.is_bool()
                      : type == "integer" ? value.is_int64() || value.is_uint64()
                                          : value.is_number();
    if (!fits) return where + " is no " + std::string(type);
    simdjson::dom::array words;
    if (schema["enum"].get(words) == simdjson::SUCCESS) {
      for (const element word : words) {
        if (word.get_string().value() == value.get_string().value()) return "";
      }
      return where + " is none of the words";
    }
    return "";
  }

 private:
  std::string problem_of_object(element value, element schema, const std::string& where) const {
    if (!value.is_object()) return where + " is no object";
    simdjson::dom::array required;
    if (schema["required"].get(required) == simdjson::SUCCESS) {
      for (const element name : required) {
        if (value[name.get_string().value()].error() != simdjson::SUCCESS)
          return where + " lacks " + std::string(name.get_string().value());
      }
    }
    element properties;
    if (schema["properties"].get(properties) != simdjson::SUCCESS) return "";  // any object
    for (const auto [name, item] : value.get_object()) {
      const std::string at = where + "." + std::string(name);
      element of_item;
      if (properties[name].get(of_item) != simdjson::SUCCESS &&
          schema["additionalProperties"].get(of_item) != simdjson::SUCCESS) {
        return at + " is not documented";
      }
      if (std::string found = problem(item, of_item, at); !found.empty()) return found;
    }
    return "";
  }

  simdjson::dom::parser parser_;
  element root_;
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// "get /api/v1/top" -> names of its query parameters, and its scope under "".
std::map<std::string, std::set<std::string>> documented(const OpenApi& api) {
  std::map<std::string, std::set<std::string>> out;
  for (const auto [path, methods] : api.root()["paths"].get_object()) {
    for (const auto [method, operation] : methods.get_object()) {
      auto& names = out[std::string(method) + " " + std::string(path)];
      names.insert("scope " + std::string(operation["x-scope"].get_string().value()));
      simdjson::dom::array parameters;
      if (operation["parameters"].get(parameters) != simdjson::SUCCESS) continue;
      for (const element item : parameters) {
        const element parameter = api.resolved(item);
        const std::string name(parameter["name"].get_string().value());
        if (parameter["in"].get_string().value() == "query") {
          names.insert(name);
        } else {
          EXPECT_NE(path.find("{" + name + "}"), std::string_view::npos);
        }
      }
    }
  }
  return out;
}

std::string scope_word(Scope scope) {
  switch (scope) {
    case Scope::kNone:
      return "none";
    case Scope::kRead:
      return "read";
    case Scope::kWrite:
      return "write";
    case Scope::kAdmin:
      return "admin";
  }
  return "";
}

TEST(OpenApi, DocumentsEveryRouteAndNoOther) {
  const OpenApi api;
  std::map<std::string, std::set<std::string>> routed;
  for (const ApiRoute* route : all_routes()) {
    auto& names = routed[lower(route->method) + " " + std::string(route->path)];
    names.insert("scope " + scope_word(route->scope));
    for (const std::string& name : parameter_names(*route)) names.insert(name);
  }
  // What other families add under /api/v1; tests/faults/test_tenants.py asks a whole server.
  routed["post /api/v1/profiles"] = {"scope write", "service_name", "labels",      "time",
                                     "type",        "format",       "sample_rate", "delta"};
  routed["get /api/v1/targets"] = {"scope admin"};
  EXPECT_EQ(documented(api), routed);
}

// What the server itself answers, whichever route is asked;
// tests/faults/test_documented_statuses.py asks all of them.
TEST(OpenApi, EveryRouteHasTheStatusesOfTheServer) {
  const OpenApi api;
  for (const auto [path, methods] : api.root()["paths"].get_object()) {
    for (const auto [method, operation] : methods.get_object()) {
      for (const char* status :
           {"400", "401", "403", "404", "413", "414", "415", "417", "429", "431", "500", "503"}) {
        element response;
        ASSERT_EQ(operation["responses"][status].get(response), simdjson::SUCCESS)
            << method << " " << path << " lacks " << status;
        EXPECT_EQ(api.resolved(response)["description"].error(), simdjson::SUCCESS);
      }
    }
  }
}

TEST(OpenApi, NamesTheTypesOfTheTable) {
  EXPECT_NE(kOpenApiDocument.text.find("or a short name: " + short_type_list() + "\""),
            std::string_view::npos)
      << "the words are those of profile/profile_types.h";
}

TEST(OpenApi, NamesTheFormatsOfTheRegistry) {
  std::string names;
  for (const FormatInfo& format : list_formats()) {
    if (!format.is_written) continue;
    names += (names.empty() ? "\"" : ", \"") + std::string(format.name) + "\"";
  }
  EXPECT_NE(kOpenApiDocument.text.find("\"enum\": [" + names + "]"), std::string_view::npos)
      << "/api/v1/export writes what formats/registry.h lists: " << names;
}

TEST(OpenApi, IsServed) {
  test::TestApi api;
  EXPECT_EQ(api.json("/api/v1/openapi.json"), kOpenApiDocument.text);
}

TEST(OpenApi, DescribesTheAnswers) {
  const OpenApi document;
  test::TestApi api;
  NativeApiOptions options;
  api.start(options);
  api.write_cpu("lines", {{"main@/src/a.cc:3", 1}}, 1);
  api.open_file("a.folded", "main;work 3\n");
  const std::map<std::string, std::string> calls = {
      {"/api/v1/types", ""},
      {"/api/v1/labels", ""},
      {"/api/v1/values/{label}", "/api/v1/values/service_name"},
      {"/api/v1/series", ""},
      {"/api/v1/stats", ""},
      {"/api/v1/services", ""},
      {"/api/v1/config", ""},
      {"/api/v1/agents", ""},
      {"/api/v1/files", ""},
      {"/api/v1/openapi.json", ""},
      {"/api/v1/flame", "/api/v1/flame?query=cpu{}&nodes=2"},
      {"/api/v1/diff/flame",
       "/api/v1/diff/flame?query=cpu{service_name=\"web\"}&baseline_query=cpu{}&nodes=2"},
      {"/api/v1/tree", "/api/v1/tree?query=cpu{}"},
      {"/api/v1/callers", "/api/v1/callers?query=cpu{}&function=work"},
      {"/api/v1/top", "/api/v1/top?query=cpu{}"},
      {"/api/v1/graph", "/api/v1/graph?query=cpu{}"},
      {"/api/v1/traces", "/api/v1/traces?query=cpu{}"},
      {"/api/v1/labels/weights", "/api/v1/labels/weights?query=cpu{}"},
      {"/api/v1/lines", "/api/v1/lines?query=cpu{}&match=main"},
      {"/api/v1/source", "/api/v1/source?query=cpu{}&source_file=/src/a.cc"},
      {"/api/v1/diff", "/api/v1/diff?query=cpu{}&baseline_from=-2h&baseline_to=-1h"},
      {"/api/v1/coverage", "/api/v1/coverage?query=cpu{}"},
      {"/api/v1/totals", "/api/v1/totals?query=cpu{}&group_by=pod"},
      {"/api/v1/heatmap", "/api/v1/heatmap?query=cpu{}&match=work"},
      {"/api/v1/export", "/api/v1/export?query=cpu{}&format=speedscope"},
  };
  for (const auto [path, methods] : document.root()["paths"].get_object()) {
    element get;
    if (methods["get"].get(get) != simdjson::SUCCESS) continue;
    if (path == "/api/v1/targets") continue;  // of another family
    element schema;
    if (get["responses"]["200"]["content"]["application/json"]["schema"].get(schema) !=
        simdjson::SUCCESS) {
      continue;
    }
    const auto call = calls.find(std::string(path));
    ASSERT_NE(call, calls.end()) << path << " has an answer that this test does not look at";
    simdjson::dom::parser parser;
    const std::string body = api.json(call->second.empty() ? path : std::string_view(call->second));
    EXPECT_EQ(document.problem(parser.parse(simdjson::padded_string(body)), schema, "answer"), "")
        << path << ": " << body;
  }
  // With an agent in the process.
  options.local_agent = [] {
    LocalAgent agent;
    agent.exporters = {{"otlp", 1, 2, 3, "refused"}};
    agent.losses = agent.troubles = {{"ring full", 1}};
    agent.problems = {"pods are unknown"};
    return agent;
  };
  api.start(options);
  simdjson::dom::parser agents_parser;
  const std::string agents = api.json("/api/v1/agents");
  EXPECT_EQ(document.problem(agents_parser.parse(simdjson::padded_string(agents)),
                             document.root()["components"]["schemas"]["Agents"], "answer"),
            "");
  // A gauge, which has neither totals nor rates.
  simdjson::dom::parser parser;
  const std::string body = api.json("/api/v1/totals?query=inuse{}");
  EXPECT_EQ(document.problem(parser.parse(simdjson::padded_string(body)),
                             document.root()["components"]["schemas"]["Totals"], "answer"),
            "");
  // Errors have one shape everywhere.
  const std::string error = api.call("/api/v1/top").body;
  EXPECT_EQ(document.problem(parser.parse(simdjson::padded_string(error)),
                             document.root()["components"]["schemas"]["Error"], "error"),
            "");
  const std::string deleted = api.json("/api/v1/series?query={}&all_time=true", "DELETE");
  EXPECT_EQ(document.problem(parser.parse(simdjson::padded_string(deleted)),
                             document.root()["components"]["schemas"]["Deleted"], "answer"),
            "");
}

TEST(OpenApi, RefersOnlyToWhatIsThere) {
  const std::string_view text = kOpenApiDocument.text;
  const OpenApi api;
  constexpr std::string_view kRef = "\"$ref\": \"#";
  size_t refs = 0;
  for (size_t at = text.find(kRef); at != std::string_view::npos; at = text.find(kRef, at + 1)) {
    const size_t start = at + kRef.size();
    const std::string_view to = text.substr(start, text.find('"', start) - start);
    EXPECT_EQ(api.root().at_pointer(to).error(), simdjson::SUCCESS) << to;
    ++refs;
  }
  EXPECT_GT(refs, 100U);
}

}  // namespace
}  // namespace vesta::server
