// A selection as a ProfileBatch, so that every format and report for files works on stored data.
// Pure function.
#pragma once

#include "profile/profile.h"
#include "reports/stack_filter.h"
#include "store/selection.h"

namespace vesta {

// One profile per service, with the service's name as its resource when there are several; one
// without samples when there is none. Inlined frames are lines of one location again; frames
// without a name keep their address in the file.
ProfileBatch to_profile_batch(const Selection& selection, const StackFilter& filter = {});

}  // namespace vesta
