/* What frames and datagrams cost: "frame|datagram BYTES INSTRUCTIONS", one line a call, on a board
 * that takes 5 instructions for 4 steps of its counter. */
#include "mps2_board.h"
#include "tare.h"

#include "transport/tare_transport.c"

TARE_CATEGORY(work, 0, "work")
TARE_EVENT1(step, work, "step", u32, number, "")

static void measure(const char *name, uint32_t (*next)(void *to, uint32_t capacity))
{
    static unsigned char to[TARE_FRAME_MOST];
    uint32_t begin, counts, size, number;

    for (number = 0; number < 200; number++)
        step(number);
    do {
        begin = MPS2_COUNTER;
        size = next(to, sizeof(to));
        counts = MPS2_COUNTER - begin;
        mps2_print(name);
        mps2_print(" ");
        mps2_print_number(size);
        mps2_print(" ");
        mps2_print_number(counts * 5 / 4);
        mps2_print("\n");
    } while (size > 0);
}

int main(void)
{
    if (tare_start() != 0)
        return 1;
    measure("frame", tare_frame_next);
    measure("datagram", tare_datagram_next);
    return 0;
}
