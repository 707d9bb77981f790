// The native API over an engine in memory with a little data, called as a transport would. Used by
// tests only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "profile/test_profiles.h"
#include "server/files/file_shelf.h"
#include "server/native/native_api.h"

namespace vesta::server::test {

inline constexpr int64_t kNow = 1'763'208'000'000'000'000;

// One CPU profile of "main;work".
struct CpuWindow {
  std::string service;
  std::string pod;
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  int64_t samples = 0;
  int64_t period_ns = 10'000'000;
};

// Services web (two pods, one profile each, 3 and 4 ns) and api (100 ns) have CPU profiles half an
// hour old; api has two heaps of 20 and 40 bytes.
class TestApi {
 public:
  TestApi();
  void start(NativeApiOptions options);

  // Another CPU profile half an hour old: weights are numbers of samples.
  void write_cpu(std::string_view service, std::vector<vesta::test::FoldedStack> samples,
                 int64_t period_ns) const;

  void write_window(const CpuWindow& window) const;

  // "/api/v1/top?query=cpu{}", not encoded.
  HttpResponse call(std::string_view url, std::string_view method = "GET",
                    std::string body = {}) const;
  // None when there is no such route.
  std::optional<HttpResponse> try_call(std::string_view url, std::string_view method,
                                       std::string body = {}) const;
  // The body of an answer that must be JSON; the test fails by exception when it is an error.
  std::string json(std::string_view url, std::string_view method = "GET",
                   std::string body = {}) const;
  // Opens a file and returns its id.
  std::string open_file(std::string_view name, std::string body) const;

  Caller caller;
  std::unique_ptr<Engine> engine;
  FileShelf files;
  Routes routes;
};

Fields fields(std::string_view query);

// Totals by path ("main;work"), rebuilt from the columns. Throws when the layout is not as written.
struct FlameColumns {
  std::string header;
  std::map<std::string, int64_t> totals;
  std::map<std::string, int64_t> totals_before;
};
FlameColumns read_flame_columns(std::string_view bytes);

}  // namespace vesta::server::test
