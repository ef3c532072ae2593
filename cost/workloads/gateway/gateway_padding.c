/* Linked first into the A/A arm: moves all that follows, in code and in data, by an odd number of
 * cache lines and never runs. */
#include "gateway_padding.h"

__attribute__((used)) unsigned char gateway_padding_data[4160] = {1};

__attribute__((used, noinline)) void gateway_padding_code(void)
{
    __asm__ volatile(".skip 4160, 0x90");
}
