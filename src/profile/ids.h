// The id types of the model: positions in the tables of one Dictionary. Id 0 is each table's empty
// entry.
#pragma once

#include "base/strong_id.h"

namespace vesta {

using StringId = StrongId<struct StringTag>;
using FunctionId = StrongId<struct FunctionTag>;
using MappingId = StrongId<struct MappingTag>;
using LocationId = StrongId<struct LocationTag>;
using StackId = StrongId<struct StackTag>;
using LabelSetId = StrongId<struct LabelSetTag>;
using LinkId = StrongId<struct LinkTag>;

}  // namespace vesta
