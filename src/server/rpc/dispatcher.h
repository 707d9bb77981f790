// What happens to a request between a transport and a handler: who asks, where it leads, the body
// unpacked, the handler called, the answer packed and given the headers that every answer has.
// Knows nothing of sockets. Refers to what it is given, which must outlive it. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/memory_account.h"
#include "server/api.h"
#include "server/http/host_names.h"
#include "server/memory_budget.h"
#include "server/rpc/router.h"
#include "server/rpc/running_requests.h"

namespace vesta::server {

struct Credentials {
  std::string_view authorization;  // as sent; may be empty
  std::string_view org_id;         // X-Scope-OrgID
  std::string address;             // of the peer, without the port
};
// kUnauthenticated, kPermission or kInvalidInput when they may not. For Scope::kNone nobody is
// refused.
using Admit = std::function<Result<Caller>(const Credentials&, Scope)>;

// One answered request, for metrics and the audit log.
struct RequestRecord {
  std::string_view transport;  // "http" or "grpc"
  std::string_view method;
  std::string_view route;   // as registered; empty when there is none
  std::string_view target;  // path and query as sent
  std::string_view request_id;
  const Caller* caller = nullptr;
  Scope scope = Scope::kNone;
  int status = 0;  // of HTTP, or its equivalent
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  std::chrono::nanoseconds duration{};
  std::string_view rejected;  // why it never came to a handler; empty when it did
};
using Observer = std::function<void(const RequestRecord&)>;

struct RequestLimits {
  uint64_t max_bytes = uint64_t{64} << 20;           // as it comes
  uint64_t max_decoded_bytes = uint64_t{256} << 20;  // unpacked
  // From the head on; handlers see it as the caller's deadline.
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);
  // Finished answers of all clients that have not read them yet; `answer_reserve` of it is for
  // tenants that have few.
  uint64_t answer_bytes = uint64_t{256} << 20;
  uint64_t answer_reserve = 0;
};

class Dispatcher {
 public:
  // `query_memory`: what all queries may take at once; null = no bound.
  Dispatcher(const Routes& routes, Admit admit, Observer observer, RequestLimits limits,
             HostNames names = {}, MemoryBudget* query_memory = nullptr);

  // A request that may go on to its handler.
  struct Admission {
    const Endpoint* endpoint = nullptr;
    Caller caller;
    Fields path_fields;
  };
  struct Refusal {
    HttpResponse response;
    std::string_view reason;  // for metrics
    std::string_view route;   // empty when there is none
    Caller caller;
  };
  // From the head alone, so that nobody without a right to it makes us read a body. `only_paths`:
  // all other paths do not exist; empty = no bound.
  std::variant<Admission, Refusal> admit(const HttpRequest& head,
                                         const std::vector<std::string>& segments,
                                         const std::string& address,
                                         const std::vector<std::string>& only_paths) const;

  // Runs the handler; on a worker thread. `lease` covers request.body, and grows with what is
  // unpacked. When it returns, `lease` covers the answer: to be kept until that is written.
  HttpResponse run(const Admission& admission, HttpRequest& request,
                   MemoryBudget::Lease& lease) const;

  // Has the lease cover an answer of that size. kUnavailable when answers that clients do not read
  // hold the memory, kLimit when it would never fit. Small ones always go out.
  Status cover_answer(uint64_t bytes, std::string_view tenant, MemoryBudget::Lease& lease) const;
  const MemoryBudget& answers() const { return answers_; }
  RunningRequests& running() const { return running_; }

  // What the handler takes beside the body that the lease covers: writers from the budget of
  // bodies, queries from their own, so that neither takes from the other.
  MemoryAccount account_for(Scope scope, std::string_view tenant,
                            const MemoryBudget::Lease& lease) const;

  const Router& router() const { return router_; }
  const RequestLimits& limits() const { return limits_; }
  Result<Caller> admit_caller(const Credentials& credentials, Scope scope) const;
  // Who holds a token that may not do what was asked, for the audit log; `otherwise` when it is not
  // known.
  Caller owner_of(const Credentials& credentials, const Caller& otherwise) const;
  // What looks like a secret in the target stays here.
  void observe(const RequestRecord& record) const;

 private:
  Router router_;
  Admit admit_;
  Observer observer_;
  RequestLimits limits_;
  HostNames names_;
  MemoryBudget* query_memory_;
  mutable MemoryBudget answers_;
  mutable RunningRequests running_;
};

// Undoes the coding ("gzip", "zstd", "identity" or empty), growing the lease before memory is
// taken. kUnsupported, kLimit, kTooMany when the budget is used up, kInvalidInput.
Result<std::string> decode_body(std::string body, std::string_view coding, uint64_t max_bytes,
                                MemoryBudget::Lease& lease);
bool is_known_coding(std::string_view coding);

// For what a writer will build of a body of that size; kTooMany when others hold the memory.
Status charge_for_write(Scope scope, uint64_t body_bytes);

// gzip, when the client takes it and it pays.
void compress_response(std::string_view accept_encoding, HttpResponse& response);

// Of an answer to a browser: nothing from elsewhere, nothing guessed. Headers that the handler set
// itself stay.
void add_security_headers(HttpResponse& response);

// 429 and 503 say when to come back.
HttpResponse busy_response(const Error& error);

}  // namespace vesta::server
