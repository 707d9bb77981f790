// One connection of the HTTP server that speaks HTTP/2: moves bytes between the socket and an
// Http2Connection, and requests between that and the dispatcher. Lives on the thread of its
// io_context, as HTTP/1.1's sessions do; handlers run on the worker pool.
#pragma once

#include <memory>
#include <string>

#include "server/http/http_session.h"
#include "server/http/http_streams.h"

namespace vesta::server {

// `first` is what was read already, the preface. The stream has no operation under way.
std::shared_ptr<HttpSession> make_http2_session(HttpEnvironment& environment,
                                                HttpConnection connection, PlainStream stream,
                                                std::string first);
std::shared_ptr<HttpSession> make_http2_session(HttpEnvironment& environment,
                                                HttpConnection connection, TlsStream stream,
                                                std::string first);

}  // namespace vesta::server
