/* Events before main, at exit and in a destructor. */
#include <stdlib.h>

#include "tare.h"

TARE_CATEGORY(life, 0, "life")
TARE_EVENT1(moment, life, "moment", u32, number, "")

static __attribute__((constructor)) void before(void)
{
    moment(0);
}

static void at_exit(void)
{
    moment(2);
}

static __attribute__((destructor)) void after(void)
{
    moment(3);
}

int main(void)
{
    atexit(at_exit);
    moment(1);
    return 0;
}
