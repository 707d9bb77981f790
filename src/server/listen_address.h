// Listen addresses under the name that the server's configuration knows them by.
#pragma once

#include "net/listen_address.h"  // IWYU pragma: export
