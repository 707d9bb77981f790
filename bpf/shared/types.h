// Fixed-width integers under the kernel's names, for headers that both the kernel programs and the
// C++ side include. C and C++.
#pragma once

#include <linux/types.h>

#ifdef __cplusplus
#define VESTA_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define VESTA_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif
