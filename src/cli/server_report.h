// Reports of selectors: the server makes them, so that rows travel and not profiles. Plain
// functions.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/server_client.h"
#include "reports/print/report.h"

namespace vesta::cli {

// Whether a server can do all that is asked: there are so many sources, every one is a selector, and
// no flag needs the samples themselves. Otherwise their profiles are fetched, and the report is made
// here.
bool server_answers(const Arguments& arguments, size_t sources = 1);

// The flags of filters and reports, and the range, as parameters.
ServerClient::Parameters report_parameters(const Arguments& arguments,
                                           const ReportOptions& options);

// What the server answers; kNoData when it has nothing that matches the selector.
Result<HttpAnswer> ask_server(std::string_view path, const ServerClient::Parameters& parameters,
                              const Arguments& arguments);

// Prints what the server answers. kNoData, with a note, when the filters left nothing to report on.
Result<int> print_answer(std::string_view path, const ServerClient::Parameters& parameters,
                         const Arguments& arguments, Console& console);

// The same for the report of the first selector, with these parameters besides those of the flags.
Result<int> print_selector(std::string_view path, const ServerClient::Parameters& own,
                           const Arguments& arguments, const ReportOptions& options,
                           Console& console);

// The call graph of the selector; with a pattern, of the functions that match.
Result<int> print_graph(const Arguments& arguments, const ReportOptions& options,
                        const std::string& pattern, Console& console);

}  // namespace vesta::cli
