// Who a profile is of, as text: the labels of its resource. Pure functions; the views point into
// the dictionary.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/profile.h"

namespace vesta::agent {

// The label's text, or its number in digits.
std::string label_text(const Dictionary& dictionary, const Label& label);

// Of the resource; empty when it has no such label.
std::string resource_text(const Dictionary& dictionary, const Profile& profile,
                          std::string_view name);

// `service.name`, else "unknown_service".
std::string service_name(const Dictionary& dictionary, const Profile& profile);

// Every other label of the resource under a name that Prometheus and Pyroscope take: dots and all
// else that is no letter, digit or underscore become underscores. Sorted; of two that become one
// name, the first stays.
std::vector<std::pair<std::string, std::string>> plain_labels(const Dictionary& dictionary,
                                                              const Profile& profile);

}  // namespace vesta::agent
