/* A shared library that declares events of its own and leaves the recorder to the program. */
#include "tare.h"

TARE_CATEGORY(library, 6, "library")
TARE_EVENT1(library_called, library, "library called", u32, number, "")

void library_call(uint32_t number);

void library_call(uint32_t number)
{
    library_called(number);
}
