// settings.v1.SettingsService: what Profiles Drilldown keeps for all users of a tenant. One file
// for each tenant.
#include <fmt/format.h>
#include <settings/v1/setting.pb.h>

#include <algorithm>

#include "base/mutex.h"
#include "server/kept/kept_files.h"
#include "server/pyroscope/query_api.h"
#include "server/pyroscope/request_fields.h"
#include "server/pyroscope/rpc_method.h"

namespace vesta::server {
namespace {

constexpr std::string_view kFileId = "settings";
constexpr int kMaxSettings = 200;
constexpr size_t kMaxNameBytes = 256;
constexpr size_t kMaxValueBytes = size_t{64} << 10;

using settings::v1::GetSettingsResponse;
using settings::v1::Setting;

// Thread-safe.
class TenantSettings {
 public:
  explicit TenantSettings(KeptFiles& files) : files_(files) {}

  Result<GetSettingsResponse> all(std::string_view tenant) const {
    GetSettingsResponse settings;
    auto bytes = files_.read(tenant, kFileId);
    if (!bytes) {
      if (bytes.error().code == ErrorCode::kNotFound) return settings;
      return std::move(bytes).error();
    }
    if (!settings.ParseFromString(*bytes)) {
      return Error{ErrorCode::kIo, "the settings of the tenant are damaged", "set them again"};
    }
    return settings;
  }

  // kUsage when there is a newer value.
  Status set(std::string_view tenant, const Setting& setting) {
    const MutexLock lock(changing_);
    VESTA_ASSIGN(GetSettingsResponse settings, all(tenant));
    Setting* to = find(settings, setting.name());
    if (to == nullptr) {
      if (settings.settings_size() >= kMaxSettings) {
        return Error{ErrorCode::kLimit, fmt::format("a tenant has {} settings", kMaxSettings),
                     "delete some of them"};
      }
      to = settings.add_settings();
    } else if (to->modifiedat() > setting.modifiedat()) {
      return Error{ErrorCode::kUsage,
                   fmt::format("'{}' has a newer value than the one sent", to->name()),
                   "read it again, or send a later modifiedAt"};
    }
    *to = setting;
    return store(tenant, settings);
  }

  Status remove(std::string_view tenant, std::string_view name) {
    const MutexLock lock(changing_);
    VESTA_ASSIGN(GetSettingsResponse settings, all(tenant));
    auto& list = *settings.mutable_settings();
    for (int at = 0; at < list.size(); ++at) {
      if (list[at].name() != name) continue;
      list.DeleteSubrange(at, 1);
      return store(tenant, settings);
    }
    return {};  // as it was asked for
  }

 private:
  static Setting* find(GetSettingsResponse& settings, std::string_view name) {
    for (Setting& setting : *settings.mutable_settings()) {
      if (setting.name() == name) return &setting;
    }
    return nullptr;
  }
  Status store(std::string_view tenant, GetSettingsResponse& settings) {
    std::ranges::sort(*settings.mutable_settings(),
                      [](const Setting& a, const Setting& b) { return a.name() < b.name(); });
    VESTA_TRY(files_.put(tenant, kFileId, "", settings.SerializeAsString()));
    return {};
  }

  KeptFiles& files_;
  Mutex changing_;
};

Status check(const Setting& setting) {
  if (setting.name().empty()) {
    return Error{ErrorCode::kUsage, "the setting has no name", "send setting.name"};
  }
  if (setting.name().size() > kMaxNameBytes || setting.value().size() > kMaxValueBytes) {
    return Error{
        ErrorCode::kLimit, "the setting is too large",
        fmt::format("a name has up to {} bytes, a value up to {}", kMaxNameBytes, kMaxValueBytes)};
  }
  return {};
}

}  // namespace

void add_settings_methods(Routes& routes, const QueryApiPtr& api) {
  if (api->options.settings == nullptr) return;
  const auto settings = std::make_shared<TenantSettings>(*api->options.settings);
  routes.add(rpc_method<settings::v1::GetSettingsRequest, GetSettingsResponse>(
      "/settings.v1.SettingsService/Get", Scope::kRead,
      [settings](const settings::v1::GetSettingsRequest&, const Caller& caller) {
        return settings->all(caller.tenant);
      }));
  routes.add(rpc_method<settings::v1::SetSettingsRequest, settings::v1::SetSettingsResponse>(
      "/settings.v1.SettingsService/Set", Scope::kWrite,
      [settings, api](const settings::v1::SetSettingsRequest& request,
                      const Caller& caller) -> Result<settings::v1::SetSettingsResponse> {
        Setting setting = request.setting();
        VESTA_TRY(check(setting));
        if (setting.modifiedat() <= 0)
          setting.set_modifiedat(api->options.clock().ns / kMillisecond);
        VESTA_TRY(settings->set(caller.tenant, setting));
        settings::v1::SetSettingsResponse response;
        *response.mutable_setting() = std::move(setting);
        return response;
      }));
  routes.add(rpc_method<settings::v1::DeleteSettingsRequest, settings::v1::DeleteSettingsResponse>(
      "/settings.v1.SettingsService/Delete", Scope::kWrite,
      [settings](const settings::v1::DeleteSettingsRequest& request,
                 const Caller& caller) -> Result<settings::v1::DeleteSettingsResponse> {
        VESTA_TRY(settings->remove(caller.tenant, request.name()));
        return settings::v1::DeleteSettingsResponse();
      }));
}

}  // namespace vesta::server
