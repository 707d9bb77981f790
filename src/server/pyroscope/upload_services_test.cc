// Files that clients upload: profiles to look at, executables with debug information.
#include <adhocprofiles/v1/adhocprofiles.pb.h>
#include <debuginfo/v1alpha1/debuginfo.pb.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parca/debuginfo/v1alpha1/debuginfo.pb.h>

#include "formats/flamebearer/reader.h"
#include "formats/otlp/base64.h"
#include "server/pyroscope/test_server.h"

namespace vesta::server {
namespace {

using test::TestServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace adhocprofiles::v1;  // NOLINT: names as long as these say where they are from
namespace di = debuginfo::v1alpha1;

template <class Response, class Request>
Response call(const TestServer& server, const std::string& path, const Request& request,
              const Caller& caller = {}) {
  const HttpResponse answer =
      server.post(path, "application/proto", request.SerializeAsString(), {}, caller);
  EXPECT_EQ(answer.status, 200) << answer.body;
  Response response;
  EXPECT_TRUE(response.ParseFromString(answer.body));
  return response;
}

class AdHocTest : public ::testing::Test {
 protected:
  static std::string path(const char* method) {
    return std::string("/adhocprofiles.v1.AdHocProfileService/") + method;
  }
  AdHocProfilesGetResponse upload(const char* name, std::string_view folded) const {
    AdHocProfilesUploadRequest request;
    request.set_name(name);
    request.set_profile(otlp::to_base64(folded));
    return call<AdHocProfilesGetResponse>(server_, path("Upload"), request);
  }
  template <class Request>
  int status(const char* method, const Request& request, const Caller& caller = {}) const {
    return server_.post(path(method), "application/proto", request.SerializeAsString(), {}, caller)
        .status;
  }
  static int64_t total(const std::string& json, size_t type = 0) {
    const auto batch = read_flamebearer(json, {});
    EXPECT_TRUE(batch) << json;
    return batch ? total_of(batch->profiles.at(0), type) : -1;
  }

  TestServer server_;
};

TEST_F(AdHocTest, AnUploadIsShownListedAndFoundAgain) {
  const auto uploaded = upload("one.folded", "main;a 3\nmain;b 4\n");
  EXPECT_EQ(uploaded.name(), "one.folded");
  EXPECT_GT(uploaded.uploaded_at(), 0);
  ASSERT_EQ(uploaded.profile_types_size(), 1);
  EXPECT_EQ(uploaded.profile_type(), uploaded.profile_types(0));
  EXPECT_EQ(total(uploaded.flamebearer_profile()), 7);
  const auto listed =
      call<AdHocProfilesListResponse>(server_, path("List"), AdHocProfilesListRequest());
  ASSERT_EQ(listed.profiles_size(), 1);
  EXPECT_EQ(listed.profiles(0).id(), uploaded.id());
  EXPECT_EQ(listed.profiles(0).name(), "one.folded");
  AdHocProfilesGetRequest get;
  get.set_id(uploaded.id());
  get.set_profile_type(uploaded.profile_type());
  EXPECT_EQ(call<AdHocProfilesGetResponse>(server_, path("Get"), get).flamebearer_profile(),
            uploaded.flamebearer_profile());
  get.set_max_nodes(1);
  EXPECT_THAT(call<AdHocProfilesGetResponse>(server_, path("Get"), get).flamebearer_profile(),
              HasSubstr("other"));
}

TEST_F(AdHocTest, ComparesTwoUploads) {
  AdHocProfilesDiffRequest request;
  request.set_left_id(upload("one", "main;a 3\n").id());
  request.set_right_id(upload("two", "main;a 1\nmain;c 5\n").id());
  const auto diff = call<AdHocProfilesDiffResponse>(server_, path("Diff"), request);
  EXPECT_EQ(diff.profile_types_size(), 1);
  EXPECT_THAT(diff.flamebearer_profile(), HasSubstr(R"("format":"double")"));
  EXPECT_EQ(total(diff.flamebearer_profile(), 0), 3);
  EXPECT_EQ(total(diff.flamebearer_profile(), 1), 6);
  request.set_right_id("nothing");
  EXPECT_EQ(status("Diff", request), 404);
}

TEST_F(AdHocTest, RefusesWhatIsNotAProfileAndHidesFilesOfOthers) {
  AdHocProfilesUploadRequest bad;
  bad.set_name("x");
  EXPECT_EQ(status("Upload", bad), 400);
  bad.set_profile("§$%");
  EXPECT_EQ(status("Upload", bad), 400);
  bad.set_profile(otlp::to_base64(std::string("\x1f\x8b not gzip", 12)));
  EXPECT_EQ(status("Upload", bad), 400);
  EXPECT_EQ(call<AdHocProfilesListResponse>(server_, path("List"), AdHocProfilesListRequest())
                .profiles_size(),
            0);
  const auto uploaded = upload("one", "main 3\n");
  AdHocProfilesGetRequest get;
  get.set_id(uploaded.id());
  Caller other;
  other.tenant = "other";
  EXPECT_EQ(status("Get", get, other), 404);
  get.set_profile_type("nothing like it");
  EXPECT_EQ(status("Get", get), 400);
}

class DebugInfoTest : public ::testing::Test {
 protected:
  static std::string path(const std::string& method) {
    return "/debuginfo.v1alpha1.DebuginfoService/" + method;
  }
  bool should(const std::string& build_id) const {
    di::ShouldInitiateUploadRequest request;
    request.mutable_file()->set_gnu_build_id(build_id);
    request.mutable_file()->set_name("prog");
    request.mutable_file()->set_type(di::FileMetadata::TYPE_EXECUTABLE_FULL);
    return call<di::ShouldInitiateUploadResponse>(server_, path("ShouldInitiateUpload"), request)
        .should_initiate_upload();
  }
  int put(const std::string& build_id, std::string body) const {
    for (const HttpRoute& route : server_.routes().http()) {
      if (route.path != path("Upload/{gnu_build_id}")) continue;
      HttpRequest request;
      request.path_fields = {{"gnu_build_id", build_id}};
      request.body = std::move(body);
      return route.handler(request, {}).status;
    }
    return 0;
  }
  template <class Request>
  int status(const char* method, const std::string& build_id) const {
    Request request;
    request.set_gnu_build_id(build_id);
    return server_.post(path(method), "application/proto", request.SerializeAsString()).status;
  }
  std::vector<std::string> listed() const {
    std::vector<std::string> lines;
    const auto answer =
        call<di::ListDebuginfoResponse>(server_, path("ListDebuginfo"), di::ListDebuginfoRequest());
    for (const auto& object : answer.object()) {
      lines.push_back(object.file().gnu_build_id() + " " + object.file().name() + " " +
                      std::to_string(object.size_bytes()) + " " + std::to_string(object.state()));
    }
    return lines;
  }

  TestServer server_;
};

TEST_F(DebugInfoTest, AnExecutableIsUploadedOnceAndKept) {
  EXPECT_THAT(listed(), ElementsAre());
  EXPECT_EQ(put("ab12",
                "\x7f"
                "ELF...."),
            412)
      << "nobody announced it";
  EXPECT_TRUE(should("ab12"));
  EXPECT_FALSE(should("ab12")) << "while it is on its way";
  EXPECT_EQ(put("ab12", "no executable"), 400);
  EXPECT_EQ(put("ab12",
                "\x7f"
                "ELF...."),
            200);
  EXPECT_EQ(status<di::UploadFinishedRequest>("UploadFinished", "ab12"), 200);
  EXPECT_THAT(listed(), ElementsAre("ab12 prog 8 1"));
  EXPECT_FALSE(should("ab12")) << "it is here";
  EXPECT_EQ(status<di::DeleteDebuginfoRequest>("DeleteDebuginfo", "ab12"), 200);
  EXPECT_THAT(listed(), ElementsAre());
  EXPECT_TRUE(should("ab12"));
  EXPECT_EQ(status<di::UploadFinishedRequest>("UploadFinished", "cd34"), 404);
}

TEST_F(DebugInfoTest, RefusesWhatIsNotABuildId) {
  for (const char* id :
       {"", "x", "xyz", "../../etc", "0123456789012345678901234567890123456789ab"}) {
    di::ShouldInitiateUploadRequest request;
    request.mutable_file()->set_gnu_build_id(id);
    request.mutable_file()->set_type(di::FileMetadata::TYPE_EXECUTABLE_FULL);
    EXPECT_EQ(
        server_.post(path("ShouldInitiateUpload"), "application/proto", request.SerializeAsString())
            .status,
        400)
        << id;
    EXPECT_EQ(put(id,
                  "\x7f"
                  "ELF"),
              400)
        << id;
  }
}

TEST_F(DebugInfoTest, ParcasAgentsAreToldNotToUpload) {
  parca::debuginfo::v1alpha1::ShouldInitiateUploadRequest request;
  request.set_build_id("ab12");
  EXPECT_FALSE(
      call<parca::debuginfo::v1alpha1::ShouldInitiateUploadResponse>(
          server_, "/parca.debuginfo.v1alpha1.DebuginfoService/ShouldInitiateUpload", request)
          .should_initiate_upload());
}

}  // namespace
}  // namespace vesta::server
