/* Records as fast as it can from two threads until it is killed. Its own count of each thread's
 * events lies in a file that outlives it: `begun` before an event, `done` after it. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tare.h"

TARE_CATEGORY(test, 0, "test")
TARE_EVENT1(number_event, test, "number", u32, number, "")

struct counted {
    volatile uint32_t begun, done;
};

static void *record(void *argument)
{
    struct counted *own = argument;

    for (;;) {
        own->begun++;
        number_event(own->done);
        own->done++;
        if (own->done % 64 == 0) /* room comes and goes, so that some are stored and some dropped */
            usleep(20);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int file = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    struct counted *counts;
    pthread_t second;

    if (file < 0 || ftruncate(file, 2 * sizeof(*counts)) != 0)
        return 2;
    counts = mmap(NULL, 2 * sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (counts == MAP_FAILED)
        return 2;
    tare_thread_name("first");
    if (pthread_create(&second, NULL, record, counts + 1) != 0)
        return 2;
    record(counts);
}
