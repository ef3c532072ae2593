/* Uses every public name of tare.h; must compile and link with the recorder on and off, as C and as
 * C++. With TARE_ENABLED 0 it must give the same bytes as with NO_CALLS, where no call is left. */
#include "tare.h"

TARE_CATEGORY(config, 5, "config")
TARE_EVENT0(nothing, config, "nothing")
TARE_EVENT1(one, config, "one", i32, number, "B")
TARE_EVENT2(two, config, "two", x32, first, "", f32, second, "us")
TARE_VALUE(level, config, "level", u32, "blocks")
TARE_SPAN(job, config, "job")
TARE_STRING(words, config, "words")
TARE_STATES(mood, config, "mood", "{idle,busy}")

volatile int input = 3;

int main(void)
{
    int sum = 0;
    int number;

    for (number = 0; number < input; number++) {
#ifndef NO_CALLS
        nothing();
        one(-number);
        two(0xABCD1234u, 2.5f);
        level((uint32_t)number);
        job_begin((uint32_t)number);
        words("eight or more bytes");
        mood(1);
        job_end((uint32_t)number);
        tare_service();
        tare_disable(1u << tare_category_config);
        tare_enable(1u << tare_category_config);
#endif
        sum += number;
    }
#ifndef NO_CALLS
    struct tare_totals counts;
    tare_thread_name("main");
    tare_counts(&counts);
    (void)tare_start();
    tare_stop();
    (void)TARE_ERROR_NO_SESSION;
    (void)TARE_ERROR_REGION;
    (void)TARE_ERROR_CLOCK;
#endif
    return sum == 3 ? 0 : 1;
}
