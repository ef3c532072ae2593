/* A C++ header: events declared beside inline functions and templates that use them. */
#pragma once
#include "tare.h"

TARE_CATEGORY(inlined, 7, "inlined")
TARE_EVENT1(inline_called, inlined, "inline called", u32, number, "")

inline void inline_call(uint32_t number)
{
    inline_called(number);
}

template <typename Number> void template_call(Number number)
{
    inline_called((uint32_t)number);
}
