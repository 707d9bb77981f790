// POST /api/v1/profiles: any profile file that Vesta reads, with labels in the URL. Any thread.
#pragma once

#include "ingest/ingest.h"
#include "server/api.h"

namespace vesta::server {

// Parameters: `type` (a five-part id, a word such as cpu or alloc_space, or a family), `labels`
// ({a="b"} or a=b,c=d), `service_name`, `time` (of the start, instead of what the file says),
// `sample_rate` (for counts of samples), `format` (instead of a look at the bytes), `delta=true`
// (the counters run since the start of the program). Answers with what was stored.
HttpResponse handle_native_profiles(Ingest& ingest, const HttpRequest& request,
                                    const Caller& caller);

}  // namespace vesta::server
