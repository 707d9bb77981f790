#include "server/native/test_call.h"

#include <stdexcept>

#include "base/time.h"
#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"
#include "store/memory/memory_engine.h"

namespace vesta::server::test {
namespace {

void write(Engine& engine, ProfileBatch batch, std::string_view name, std::string_view service,
           std::string_view pod, int64_t time_ns, int64_t duration_ns = 10'000'000'000) {
  DictionaryBuilder b(batch.dictionary);
  const std::vector<Label> labels = {b.text_label("service_name", service),
                                     b.text_label("pod", pod)};
  Profile& profile = batch.profiles[0];
  profile.name = b.string(name);
  profile.resource = b.label_set(labels);
  if (name == "process_cpu") {
    profile.period_type = {b.string("cpu"), b.string("nanoseconds"), Temporality::kCumulative};
  } else {
    profile.period_type = {b.string("space"), b.string("bytes"), Temporality::kCumulative};
  }
  profile.time_ns = time_ns;
  profile.duration_ns = duration_ns;
  WriteOptions options;
  options.now_ns = kNow;
  const auto receipt = engine.write("anonymous", batch, options);
  if (!receipt.ok()) throw std::runtime_error(receipt.error().message);
}

bool take_field(std::string_view& text, std::string_view end, std::string_view& field) {
  const size_t at = text.find(end);
  field = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return at != std::string_view::npos;
}

// Whether the path fits the route; what stands at {name} goes to `found`.
bool matches(std::string_view route, std::string_view path, Fields& found) {
  while (true) {
    std::string_view wanted;
    std::string_view given;
    const bool more_wanted = take_field(route, "/", wanted);
    const bool more_given = take_field(path, "/", given);
    if (wanted.starts_with('{')) {
      found.emplace_back(wanted.substr(1, wanted.size() - 2), given);
    } else if (wanted != given) {
      return false;
    }
    if (more_wanted != more_given) return false;
    if (!more_wanted) return true;
  }
}

class ColumnReader {
 public:
  explicit ColumnReader(std::string_view bytes) : bytes_(bytes) {}
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(take(1)[0]);
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  }
  int64_t signed_varint() {
    const uint64_t value = varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  std::string_view block() { return take(varint()); }
  std::string_view take(size_t count) {
    if (count > bytes_.size()) throw std::runtime_error("columns are cut off");
    const std::string_view out = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return out;
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

}  // namespace

TestApi::TestApi()
    : engine(make_memory_engine()),
      files({FileShelfLimits(), nullptr, [] { return UnixNs(kNow); }}) {
  namespace profiles = vesta::test;
  const int64_t time_ns = kNow - 30 * kMinute;
  write(*engine, profiles::batch_from({{"main;work;read", 1}, {"main;work;write", 2}}),
        "process_cpu", "web", "web-1", time_ns);
  write(*engine, profiles::batch_from({{"main;idle", 4}}), "process_cpu", "web", "web-2", time_ns);
  write(*engine, profiles::batch_from({{"main;serve", 100}}), "process_cpu", "api", "api-1",
        time_ns);
  for (const int64_t bytes : {20, 40}) {
    auto batch = profiles::batch_from({{"main;new", bytes}}, "inuse_space", "bytes");
    batch.profiles[0].sample_types[0].temporality = Temporality::kInstant;
    write(*engine, std::move(batch), "memory", "api", "api-1", time_ns + bytes * 1'000'000'000);
  }
  start({});
}

void TestApi::write_cpu(std::string_view service, std::vector<vesta::test::FoldedStack> samples,
                        int64_t period_ns) const {
  for (vesta::test::FoldedStack& sample : samples) sample.value *= period_ns;
  ProfileBatch batch = vesta::test::batch_from(samples);
  batch.profiles[0].period = period_ns;
  write(*engine, std::move(batch), "process_cpu", service, "", kNow - 30 * kMinute);
}

void TestApi::write_window(const CpuWindow& window) const {
  ProfileBatch batch = vesta::test::batch_from({{"main;work", window.samples * window.period_ns}});
  batch.profiles[0].period = window.period_ns;
  write(*engine, std::move(batch), "process_cpu", window.service, window.pod, window.time_ns,
        window.duration_ns);
}

void TestApi::start(NativeApiOptions options) {
  options.clock = [] { return UnixNs(kNow); };
  options.files = &files;
  routes = Routes();
  add_native_routes(routes, *engine, options);
}

HttpResponse TestApi::call(std::string_view url, std::string_view method, std::string body) const {
  auto response = try_call(url, method, std::move(body));
  if (!response)
    throw std::runtime_error("no route " + std::string(method) + " " + std::string(url));
  return std::move(*response);
}

std::optional<HttpResponse> TestApi::try_call(std::string_view url, std::string_view method,
                                              std::string body) const {
  HttpRequest request;
  request.body = std::move(body);
  request.method = method;
  std::string_view path;
  take_field(url, "?", path);
  request.path = path;
  request.query = fields(url);
  for (const HttpRoute& route : routes.http()) {
    Fields found;
    if (route.method != method || !matches(route.path, path, found)) continue;
    request.path_fields = found;
    return route.handler(request, caller);
  }
  return std::nullopt;
}

std::string TestApi::json(std::string_view url, std::string_view method, std::string body) const {
  HttpResponse response = call(url, method, std::move(body));
  if (response.status != 200 || response.content_type != "application/json") {
    throw std::runtime_error(std::string(url) + ": " + std::to_string(response.status) + " " +
                             response.body);
  }
  return std::move(response.body);
}

std::string TestApi::open_file(std::string_view name, std::string body) const {
  const std::string answer =
      json("/api/v1/files?name=" + std::string(name), "POST", std::move(body));
  constexpr std::string_view kBefore = R"({"id":")";
  if (!answer.starts_with(kBefore)) throw std::runtime_error(answer);
  return answer.substr(kBefore.size(), 32);
}

Fields fields(std::string_view query) {
  Fields out;
  while (!query.empty()) {
    std::string_view pair;
    take_field(query, "&", pair);
    std::string_view name;
    take_field(pair, "=", name);
    out.emplace_back(name, pair);
  }
  return out;
}

namespace {

// A column of weights; without bytes, all are zero.
struct WeightColumn {
  explicit WeightColumn(std::string_view bytes) : numbers(bytes), is_zero(bytes.empty()) {}
  int64_t next() { return is_zero ? 0 : numbers.signed_varint(); }
  ColumnReader numbers;
  bool is_zero;
};

}  // namespace

FlameColumns read_flame_columns(std::string_view bytes) {
  ColumnReader in(bytes);
  if (in.take(4) != "VFC1") throw std::runtime_error("no columns");
  FlameColumns out;
  out.header = in.block();
  const bool both = out.header.find("\"baseline\":true") != std::string::npos;
  std::vector<std::string> strings(in.varint());
  for (std::string& text : strings) text = in.block();
  std::vector<std::string> names(in.varint());
  for (std::string& name : names) {
    name = strings.at(in.varint());
    in.varint();
    in.varint();
    in.signed_varint();
    in.take(1);
  }
  const size_t count = in.varint();
  ColumnReader pops(in.block());
  ColumnReader name(in.block());
  WeightColumn self(in.block());
  in.block();  // how many nodes were cut
  WeightColumn cut_weight(in.block());
  WeightColumn self_before(both ? in.block() : "");
  WeightColumn cut_before(both ? in.block() : "");
  if (!in.at_end()) throw std::runtime_error("bytes after the columns");
  std::vector<std::string> path;  // of the last node
  std::vector<std::string> texts;
  const auto add = [](auto& totals, std::string text, int64_t weight) {
    // To the node and all above it.
    while (true) {
      totals[text] += weight;
      if (text.empty()) return;
      const size_t at = text.rfind(';');
      text.resize(at == std::string::npos ? 0 : at);
    }
  };
  for (size_t i = 0; i < count; ++i) {
    const std::string own = names.at(name.varint());
    if (i > 0) {
      const uint64_t up = pops.varint();
      if (up > path.size()) throw std::runtime_error("goes above the root");
      path.resize(path.size() - up);
      path.push_back(own);
    }
    std::string text;
    for (const std::string& step : path) text += (text.empty() ? "" : ";") + step;
    add(out.totals, text, self.next() + cut_weight.next());
    if (both) add(out.totals_before, text, self_before.next() + cut_before.next());
  }
  return out;
}

}  // namespace vesta::server::test
