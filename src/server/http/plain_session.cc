#include "server/http/http1_session.h"

namespace vesta::server::http1 {

std::shared_ptr<HttpSession> make_plain_session(HttpEnvironment& environment,
                                                HttpConnection connection, PlainStream stream) {
  return std::make_shared<Session<PlainStream>>(environment, std::move(connection),
                                                std::move(stream));
}

}  // namespace vesta::server::http1
