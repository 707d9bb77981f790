// How much of a function name a box can show. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace vesta {

// The name without what tells a reader least: parameters, template arguments, return type.
// "void ns::Map<int>::put(int) const" -> "ns::Map::put". Names it does not understand come back
// as they are.
std::string shorten_name(std::string_view name);

// The most telling form that takes at most `columns`: the whole name, the short one, the short one
// without leading namespaces or packages, or the start of the last part with "…". Empty when not
// even that says anything. viewer/label.js does the same in the browser.
std::string fit_label(std::string_view name, std::string_view short_name, size_t columns);

enum class FrameChange { kNone, kNew, kGone };

// The same after a mark for frames that only one side of a difference has: "[new] ", "[gone] ", or
// "+" and "-" where that takes too much room. The mark stays when the name does not fit.
std::string fit_changed_label(std::string_view name, std::string_view short_name,
                              FrameChange change, size_t columns);

}  // namespace vesta
