/* Two threads, recorded. */
#include "tare.h"
#include <pthread.h>
#include <unistd.h>

TARE_CATEGORY(work, 0, "work")
TARE_EVENT1(block_ready, work, "block ready", u32, size, "B")
TARE_SPAN(process, work, "process")
TARE_VALUE(left, work, "left", i32, "blocks")

static void *consumer(void *unused)
{
    tare_thread_name("consumer");
    for (unsigned block = 0; block < 100; block++) {
        process_begin(block);
        usleep(200);
        process_end(block);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;

    tare_thread_name("producer");
    pthread_create(&thread, NULL, consumer, NULL);
    for (int block = 0; block < 100; block++) {
        block_ready(512 + (unsigned)block);
        left(99 - block);
        usleep(250);
    }
    return pthread_join(thread, NULL);
}
