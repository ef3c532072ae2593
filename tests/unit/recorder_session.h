/* A recording session inside a test program: the recorder, a collector thread with a jittered pace,
 * and the counts that the decoder finds afterwards. */
#ifndef RECORDER_SESSION_H
#define RECORDER_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base_progress.h"
#include "cap_drain.h"
#include "dec_input.h"
#include "tare.h"

struct test_session {
    struct session session;
    struct container container;
    struct drain drain;
    pthread_t collector;
    bool collector_running;
    unsigned seed;
};

/* Pauses of 0 to 2 ms, most of them short: a collector on a busy machine. */
static void *test_collect(void *argument)
{
    struct test_session *test = argument;

    while (__atomic_load_n(&test->collector_running, __ATOMIC_ACQUIRE)) {
        drain_once(&test->drain, monotonic_ns());
        if (rand_r(&test->seed) % 4 == 0)
            usleep((useconds_t)(rand_r(&test->seed) % 2000));
    }
    return NULL;
}

/* False with a message when anything of it fails. */
static bool test_session_begin(struct test_session *test, const struct session_options *options,
                               const char *path)
{
    struct error error = {0};

    *test = (struct test_session){.seed = 1};
    if (!session_create(&test->session, options, &error) ||
        !container_create(&test->container, path, test->session.region->session, &error)) {
        error_report(&error);
        return false;
    }
    drain_begin(&test->drain, &test->session, &test->container);
    setenv(TARE_REGION_VARIABLE, test->session.path, 1);
    if (tare_start() != 0)
        return false;
    tare_register_at_load();
    test->collector_running = true;
    return pthread_create(&test->collector, NULL, test_collect, test) == 0;
}

/* From here on nobody reads the rings until test_session_end. */
static void test_session_pause(struct test_session *test)
{
    __atomic_store_n(&test->collector_running, false, __ATOMIC_RELEASE);
    pthread_join(test->collector, NULL);
}

static bool test_session_end(struct test_session *test)
{
    struct error error = {0};

    drain_end(&test->drain);
    container_end(&test->container, "{}");
    session_destroy(&test->session);
    return container_close(&test->container, &error) || error_report(&error) == EXIT_DONE;
}

#endif
