// Makes an RpcMethod of a function on messages. Only for source files that know the messages.
#pragma once

#include <google/protobuf/stubs/logging.h>

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "server/api.h"
#include "server/pyroscope/query_api.h"

namespace vesta::server {

// `handler(const Request&, const Caller&)` returns Result<Response>, or the bytes of one as
// Result<std::string>.
template <class Request, class Response, class Handler>
RpcMethod rpc_method(std::string path, Scope scope, Handler handler) {
  RpcMethod method;
  method.path = std::move(path);
  method.scope = scope;
  method.request_type = &Request::default_instance();
  method.response_type = &Response::default_instance();
  method.handler = [handler = std::move(handler)](std::string_view bytes,
                                                  const Caller& caller) -> Result<std::string> {
    // Whatever is wrong with the bytes is the client's to know; it must not fill our log.
    const google::protobuf::LogSilencer silencer;
    Request request;
    if (bytes.size() > std::numeric_limits<int>::max() ||
        !request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return Error{ErrorCode::kInvalidInput, "cannot read the body as " + request.GetTypeName(),
                   "check Content-Type and Content-Encoding"};
    }
    auto response = handler(request, caller);
    if constexpr (std::is_same_v<decltype(response), Result<std::string>>) {
      return response;
    } else {
      if (!response) return std::move(response).error();
      return response->SerializeAsString();
    }
  };
  return method;
}

// One method of querier.v1.QuerierService.
template <class Response, class Request, class Answer>
void add_querier_method(Routes& routes, const QueryApiPtr& api, std::string_view name,
                        Result<Answer> (*handler)(const QueryApi&, const Request&, const Caller&)) {
  routes.add(
      rpc_method<Request, Response>("/querier.v1.QuerierService/" + std::string(name), Scope::kRead,
                                    [api, handler](const Request& request, const Caller& caller) {
                                      return handler(*api, request, caller);
                                    }));
}
template <class Request, class Response>
void add_querier_method(Routes& routes, const QueryApiPtr& api, std::string_view name,
                        Result<Response> (*handler)(const QueryApi&, const Request&,
                                                    const Caller&)) {
  add_querier_method<Response, Request, Response>(routes, api, name, handler);
}

}  // namespace vesta::server
