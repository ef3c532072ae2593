#include "inline_part.hpp"

void other_part();

void other_part()
{
    inline_call(4);
}
