/* Uses every public name that a target without an operating system has: of tare.h, tare_kernel.h
 * and hook/tare_baremetal.h. With TARE_ENABLED 0 it must give the same image as with
 * WITHOUT_RECORDER, where the recorder is not mentioned. */
#include <stdint.h>

#ifdef WITHOUT_RECORDER

#define CALL(call)

#else

#include "hook/tare_baremetal.h"

#define CALL(call) call

TARE_CATEGORY(config, 5, "config")
TARE_EVENT0(nothing, config, "nothing")
TARE_EVENT1(one, config, "one", i32, number, "B")
TARE_EVENT2(two, config, "two", x32, first, "", f32, second, "us")
TARE_VALUE(level, config, "level", u32, "blocks")
TARE_SPAN(job, config, "job")
TARE_STRING(words, config, "words")
TARE_STATES(mood, config, "mood", "{idle,busy}")
TARE_INTERRUPT(line, config, "line")

#endif

volatile uint32_t input = 3;

int main(void)
{
    uint32_t sum = 0, number;
    CALL(uint32_t object;)
    CALL(struct tare_totals counts;)

    CALL(object = tare_object_new(TARE_CLASS_QUEUE, "pending", 16);)
    CALL(if (tare_start() == TARE_ERROR_CLOCK) sum = 100;)
    CALL(tare_thread_name("core");)
    for (number = 0; number < input; number++) {
        CALL(line_enter();)
        CALL(nothing();)
        CALL(one(-(int32_t)number);)
        CALL(two(0xABCD1234u, 2.5f);)
        CALL(level(number);)
        CALL(job_begin(number);)
        CALL(words("eight or more bytes");)
        CALL(mood(1);)
        CALL(job_end(number);)
        CALL(line_exit();)
        CALL(TARE_OBJECT_EVENT(TARE_CATEGORY_OBJECT, object, TARE_SEND);)
        CALL(TARE_MEMORY_EVENT(TARE_KERNEL_ALLOCATED, &sum, 16);)
        CALL(tare_kernel_event(TARE_KERNEL_DELAY, object, number);)
        CALL(tare_service();)
        CALL(tare_tick(number);)
        CALL(tare_disable(1u << tare_category_config);)
        CALL(tare_enable(1u << tare_category_config);)
        sum += number;
    }
    CALL(tare_object_name(object, "other name");)
    CALL(tare_object_delete(object);)
    CALL(tare_counts(&counts);)
    CALL(if (counts.dropped != 0 || counts.suppressed != 0) sum = 100;)
    CALL(tare_stop();)
    return sum == 3 ? 0 : 1;
}
