#include "store/testing/engine_suite.h"

namespace vesta::test {
namespace {

template <class T>
T value_or_fail(Result<T> result) {
  if (result) return std::move(result).value();
  ADD_FAILURE() << result.error().message << "; " << result.error().hint;
  return {};
}

}  // namespace

WriteReceipt EngineSuite::write(const std::vector<ProfileSpec>& specs) {
  return value_or_fail(engine().write(kTenant, batch_of(specs), write_options_of(specs)));
}

WriteReceipt EngineSuite::write(const ProfileBatch& batch, std::string_view tenant) {
  return value_or_fail(engine().write(tenant, batch, {}));
}

SelectRequest EngineSuite::request(std::string_view type, std::string_view selector,
                                   TimeRange range) {
  SelectRequest request;
  request.type = type_of(type);
  request.selector = selector_of(selector);
  request.range = range;
  return request;
}

TotalsRequest EngineSuite::totals_request(int64_t step_ns, TimeRange range, std::string_view type,
                                          std::string_view selector) {
  TotalsRequest request;
  request.type = type_of(type);
  request.selector = selector_of(selector);
  request.range = range;
  request.step_ns = step_ns;
  return request;
}

PointsRequest EngineSuite::points_request(std::string_view type, std::string_view selector,
                                          TimeRange range) {
  PointsRequest request;
  request.type = type_of(type);
  request.selector = selector_of(selector);
  request.range = range;
  return request;
}

SamplesRequest EngineSuite::samples_request(std::string_view type, std::string_view selector,
                                            TimeRange range) {
  SamplesRequest out;
  out.select = request(type, selector, range);
  return out;
}

std::vector<Selection> EngineSuite::select_all(const SelectRequest& request,
                                               std::string_view tenant) {
  return value_or_fail(engine().select(tenant, request));
}

Selection EngineSuite::select(const SelectRequest& request, std::string_view tenant) {
  std::vector<Selection> answer = select_all(request, tenant);
  EXPECT_EQ(answer.size(), 1U) << "without group_by there is exactly one selection";
  return answer.empty() ? Selection{} : std::move(answer.front());
}

std::vector<TotalsSeries> EngineSuite::totals(const TotalsRequest& request) {
  return value_or_fail(engine().totals(kTenant, request));
}
std::vector<ProfilePoint> EngineSuite::points(const PointsRequest& request) {
  return value_or_fail(engine().points(kTenant, request));
}
ProfileBatch EngineSuite::samples(const SamplesRequest& request) {
  return value_or_fail(engine().samples(kTenant, request));
}

std::vector<std::string> EngineSuite::series(std::string_view selector, TimeRange range,
                                             std::string_view tenant) {
  std::vector<std::string> texts;
  for (const SeriesInfo& info :
       value_or_fail(engine().series(tenant, selector_of(selector), range))) {
    texts.push_back(own_labels(info.labels));
  }
  return texts;
}

std::vector<std::string> EngineSuite::names(std::string_view selector, TimeRange range) {
  return value_or_fail(engine().label_names(kTenant, selector_of(selector), range));
}
std::vector<std::string> EngineSuite::values(std::string_view name, std::string_view selector,
                                             TimeRange range, std::string_view prefix,
                                             size_t limit) {
  return value_or_fail(
      engine().label_values(kTenant, name, selector_of(selector), range, prefix, limit));
}
uint64_t EngineSuite::remove(std::string_view selector, TimeRange range) {
  return value_or_fail(engine().remove(kTenant, selector_of(selector), range));
}

}  // namespace vesta::test
