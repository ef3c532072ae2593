#include "inline_part.hpp"

extern "C" void library_call(uint32_t number);
void other_part();

TARE_CATEGORY(program, 0, "program")
TARE_EVENT1(program_called, program, "program called", u32, number, "")

int main()
{
    program_called(1);
    inline_call(2);
    template_call(3L);
    other_part();
    library_call(5);
}
