// What every engine must do, written against the interface alone. An engine takes part by naming
// how to make it; the tests are in engine_suite*.cc. One engine per test, used from one thread
// unless a test says otherwise.
//
// For RocksDB, `rocksdb/engine_suite_test.cc`, linked with vesta_store_suite:
//   class OnDisk final : public test::EngineUnderTest { … open_rocksdb_engine(options_) into a
//     temporary directory; reopen() { engine_.reset(); engine_ = open_rocksdb_engine(options_); }
//     };
//   INSTANTIATE_TEST_SUITE_P(Rocksdb, EngineSuite, testing::Values(test::EngineFactory{
//       "rocksdb", [] { return std::make_unique<OnDisk>(); }}), test::engine_name);
// and the same with ModelSuite (model_suite.h).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/engine.h"
#include "store/testing/stored_profiles.h"

namespace vesta::test {

struct EngineAbilities {
  bool backup = false;
  // Opens what backup() wrote; needed with `backup`.
  std::function<std::unique_ptr<Engine>(const std::string& directory)> restore;
};

class EngineUnderTest {
 public:
  virtual ~EngineUnderTest() = default;
  virtual Engine& engine() = 0;
  // Ends the engine and starts another over the same data; for one without durability, nothing.
  virtual void reopen() = 0;
  virtual EngineAbilities abilities() const { return {}; }
};

struct EngineFactory {
  std::string name;
  std::function<std::unique_ptr<EngineUnderTest>()> make;
};
inline std::string engine_name(const testing::TestParamInfo<EngineFactory>& info) {
  return info.param.name;
}

class EngineSuite : public testing::TestWithParam<EngineFactory> {
 protected:
  static constexpr std::string_view kTenant = "acme";

  Engine& engine() { return under_test_->engine(); }
  EngineUnderTest& under_test() { return *under_test_; }

  // Writes; the test fails when that does not work.
  WriteReceipt write(const std::vector<ProfileSpec>& specs);
  WriteReceipt write(const ProfileBatch& batch, std::string_view tenant = kTenant);

  static SelectRequest request(std::string_view type = kCpuType, std::string_view selector = "{}",
                               TimeRange range = kAllTime);
  static TotalsRequest totals_request(int64_t step_ns, TimeRange range,
                                      std::string_view type = kCpuType,
                                      std::string_view selector = "{}");
  static PointsRequest points_request(std::string_view type = kCpuType,
                                      std::string_view selector = "{}", TimeRange range = kAllTime);
  static SamplesRequest samples_request(std::string_view type = kCpuType,
                                        std::string_view selector = "{}",
                                        TimeRange range = kAllTime);
  // The answers; empty, and the test fails, when there is an error.
  std::vector<Selection> select_all(const SelectRequest& request,
                                    std::string_view tenant = kTenant);
  Selection select(const SelectRequest& request, std::string_view tenant = kTenant);
  Selection select(std::string_view selector = "{}", TimeRange range = kAllTime,
                   std::string_view type = kCpuType) {
    return select(request(type, selector, range));
  }
  std::vector<TotalsSeries> totals(const TotalsRequest& request);
  std::vector<ProfilePoint> points(const PointsRequest& request);
  ProfileBatch samples(const SamplesRequest& request);
  // Own labels of the matching series, in order.
  std::vector<std::string> series(std::string_view selector = "{}", TimeRange range = kAllTime,
                                  std::string_view tenant = kTenant);
  std::vector<std::string> names(std::string_view selector = "{}", TimeRange range = kAllTime);
  std::vector<std::string> values(std::string_view name, std::string_view selector = "{}",
                                  TimeRange range = kAllTime, std::string_view prefix = {},
                                  size_t limit = 0);
  uint64_t remove(std::string_view selector, TimeRange range = kAllTime);

  // Asks the same three times: as it is, after all due work, and after a restart.
  template <class Check>
  void whenever(Check&& check) {
    {
      SCOPED_TRACE("as written");
      check();
    }
    ASSERT_TRUE(engine().maintain());
    {
      SCOPED_TRACE("after maintain()");
      check();
    }
    under_test().reopen();
    {
      SCOPED_TRACE("after a restart");
      check();
    }
  }

 private:
  std::unique_ptr<EngineUnderTest> under_test_ = GetParam().make();
};

}  // namespace vesta::test
