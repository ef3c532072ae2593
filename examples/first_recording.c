/* Two threads and what lies between them. README.md shows how to build, record and look. */
#include "tare.h"
#include <pthread.h>
#include <unistd.h>

TARE_CATEGORY(work, 0, "work")
TARE_EVENT1(block_ready, work, "block ready", u32, size, "B")
TARE_SPAN(process, work, "process")
TARE_VALUE(pending, work, "pending", i32, "blocks")

static int waiting; /* blocks that are ready and not processed yet */

static void *consumer(void *unused)
{
    tare_thread_name("consumer");
    for (unsigned block = 0; block < 100; block++) {
        while (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) == 0)
            usleep(50);
        process_begin(block);
        usleep(200);
        pending(__atomic_sub_fetch(&waiting, 1, __ATOMIC_ACQ_REL));
        process_end(block);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;

    tare_thread_name("producer");
    pthread_create(&thread, NULL, consumer, NULL);
    for (unsigned block = 0; block < 100; block++) {
        block_ready(512 + block);
        pending(__atomic_add_fetch(&waiting, 1, __ATOMIC_ACQ_REL));
        usleep(250);
    }
    return pthread_join(thread, NULL);
}
