/* base_error: the first text wins; what reaches stderr and the exit status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base_buffer.h"

static void first_text_wins(void **state)
{
    struct error error = {0};

    (void)state;
    error_set(&error, EXIT_DAMAGED, "inner %d", 7);
    error_set(&error, EXIT_USAGE, "outer");
    assert_int_equal(error.code, EXIT_DAMAGED);
    assert_string_equal(error.text, "inner 7");
}

static void long_text_is_cut_but_ended(void **state)
{
    struct error error = {0};
    char text[3000];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    error_set(&error, EXIT_USAGE, "%s", text);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

static void report_all(void)
{
    struct error error = {0};

    error_set(&error, EXIT_CANNOT_TELL, "%s", "one");
    if (error_report(&error) != EXIT_CANNOT_TELL)
        _exit(1);
    warn("%s", "two");
    die("%s", "three");
}

/* In a child of its own, because die() ends the program. */
static void messages_and_status(void **state)
{
    struct buffer text = {0};
    char bytes[256];
    ssize_t count;
    int ends[2], status;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        report_all();
        _exit(0);
    }
    close(ends[1]);
    while ((count = read(ends[0], bytes, sizeof bytes)) > 0)
        buffer_append(&text, bytes, (size_t)count);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 125);
    assert_string_equal(text.data, "tare: one\ntare: warning: two\ntare: three\n");
    buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_text_wins),
        cmocka_unit_test(long_text_is_cut_but_ended),
        cmocka_unit_test(messages_and_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
