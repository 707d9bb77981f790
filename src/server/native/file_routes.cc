// Files that people open to look at: kept in memory for a while, never stored.
#include <array>

#include "server/files/opened_file.h"
#include "server/native/answer.h"

namespace vesta::server {
namespace {

Result<FileShelf*> shelf_of(const ApiCall& call) {
  if (call.context.options.files != nullptr) return call.context.options.files;
  return Error{ErrorCode::kUnsupported, "opening files is disabled", ""};
}

void write_file(JsonWriter& json, const OpenedFile& file) {
  json.begin_object().field("id", file.id).field("name", file.name).field("format", file.format);
  json.field("from_ns", file.range.start_ns).field("to_ns", file.range.end_ns);
  json.key("types").begin_array();
  for (const FileType& type : file.types) {
    json.begin_object().field("profile_type", type.type.id()).field("name", type.word);
    json.field("type", type.type.sample_type).field("unit", type.type.sample_unit);
    json.field("total", type.total).field("samples", type.samples).end_object();
  }
  json.end_array().key("labels").begin_array();
  for (const std::string& label : file.labels) json.string(label);
  json.end_array().end_object();
}

Result<HttpResponse> open(const ApiCall& call) {
  VESTA_ASSIGN(FileShelf* const shelf, shelf_of(call));
  VESTA_ASSIGN(const FileShelf::File file, shelf->open(call.caller.tenant, call.parameter("name"),
                                                       call.request.body, call.caller.is_gone));
  JsonWriter json;
  write_file(json, *file);
  return json_response(json.take());
}

Result<HttpResponse> list(const ApiCall& call) {
  VESTA_ASSIGN(FileShelf* const shelf, shelf_of(call));
  JsonWriter json;
  json.begin_object().key("files").begin_array();
  for (const FileShelf::File& file : shelf->list(call.caller.tenant)) write_file(json, *file);
  return json_response(json.end_array().end_object().take());
}

Result<HttpResponse> close(const ApiCall& call) {
  VESTA_ASSIGN(FileShelf* const shelf, shelf_of(call));
  const std::string_view id = call.request.path_field("id");
  VESTA_TRY(shelf->close(call.caller.tenant, id));
  JsonWriter json;
  return json_response(json.begin_object().field("id", id).end_object().take());
}

}  // namespace

std::span<const ApiRoute> file_routes() {
  static const std::array kRoutes = {
      // Nothing is stored, so that who may read may open. The dispatcher refuses what pages of
      // other sites send.
      ApiRoute{"POST", "/api/v1/files", Scope::kRead, {"name"}, open},
      ApiRoute{"GET", "/api/v1/files", Scope::kRead, {}, list},
      ApiRoute{"DELETE", "/api/v1/files/{id}", Scope::kRead, {}, close},
  };
  return kRoutes;
}

}  // namespace vesta::server
