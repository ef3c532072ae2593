/* base_buffer: growth, whole-file reading and writing, and every way in which those fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base_buffer.h"

static void empty_buffer(void **state)
{
    struct buffer buffer = {0};

    (void)state;
    buffer_clear(&buffer);
    buffer_free(&buffer);
    buffer_append(&buffer, NULL, 0);
    assert_string_equal(buffer.data, "");
    assert_int_equal(buffer.size, 0);
    buffer_free(&buffer);
    assert_null(buffer.data);
}

static void grows_and_stays_terminated(void **state)
{
    struct buffer buffer = {0};

    (void)state;
    for (int i = 0; i < 100000; i++) {
        char byte = (char)('a' + i % 26);

        buffer_append(&buffer, &byte, 1);
        assert_int_equal(buffer.data[buffer.size], 0);
    }
    assert_int_equal(buffer.size, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buffer.data[i], 'a' + i % 26);
    buffer_clear(&buffer);
    assert_string_equal(buffer.data, "");
    buffer_free(&buffer);
}

static void zero_bytes_are_kept(void **state)
{
    struct buffer buffer = {0};

    (void)state;
    buffer_append(&buffer, "a\0b", 3);
    assert_int_equal(buffer.size, 3);
    assert_memory_equal(buffer.data, "a\0b\0", 4);
    buffer_free(&buffer);
}

/* Every length around the borders at which the formatted text fits or must be formatted again. */
static void printf_of_every_length(void **state)
{
    char filler[600];

    (void)state;
    memset(filler, 'x', sizeof filler);
    for (int length = 0; length < 600; length++) {
        struct buffer buffer = {0};

        buffer_text(&buffer, "<");
        buffer_printf(&buffer, "%.*s", length, filler);
        buffer_text(&buffer, ">");
        assert_int_equal(buffer.size, length + 2);
        assert_int_equal(buffer.data[0], '<');
        assert_int_equal(buffer.data[length + 1], '>');
        assert_int_equal(strspn(buffer.data + 1, "x"), length);
        buffer_free(&buffer);
    }
}

static void memory_helpers(void **state)
{
    unsigned char *bytes = memory_new(1000, 3);
    char *text = memory_text("copy"), *nothing = memory_new(0, 8);

    (void)state;
    for (int i = 0; i < 3000; i++)
        assert_int_equal(bytes[i], 0);
    bytes[2999] = 9;
    bytes = memory_resize(bytes, 5000, 3);
    assert_int_equal(bytes[2999], 9);
    assert_string_equal(text, "copy");
    assert_non_null(nothing);
    free(bytes);
    free(text);
    free(nothing);
}

/* More than the address space: refused with a message instead of a wrapped product. */
static void too_much_memory_ends_the_program(void **state)
{
    int status;
    pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO);
        memory_resize(NULL, SIZE_MAX / 2, 4);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 125);
}

static void round_trip_of(size_t size)
{
    struct buffer in = {0}, out = {0};
    struct error error = {0};

    for (size_t i = 0; i < size; i++) {
        char byte = (char)(i * 31 + i / 256);

        buffer_append(&in, &byte, 1);
    }
    /* What the buffer held before must not survive. */
    buffer_text(&out, "old contents");
    assert_true(file_write("round", in.data, in.size, &error));
    assert_true(file_read("round", &out, &error));
    assert_int_equal(out.size, size);
    if (size > 0)
        assert_memory_equal(out.data, in.data, size);
    assert_int_equal(out.data[size], 0);
    assert_int_equal(error.code, EXIT_DONE);
    assert_int_equal(access("round.part", F_OK), -1);
    buffer_free(&in);
    buffer_free(&out);
}

static void file_round_trip(void **state)
{
    static const size_t sizes[] = {0, 1, 62, 63, 64, 65, 127, 128, 4095, 4096, 4097, 1000000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        round_trip_of(sizes[i]);
}

static void read_fails(const char *path, const char *reason)
{
    struct buffer buffer = {0};
    struct error error = {0};

    assert_false(file_read(path, &buffer, &error));
    assert_int_equal(error.code, EXIT_USAGE);
    if (strstr(error.text, reason) == NULL || strstr(error.text, path) == NULL)
        fail_msg("\"%s\" names not both %s and \"%s\"", error.text, path, reason);
    buffer_free(&buffer);
}

static void read_failures(void **state)
{
    (void)state;
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(mkfifo("fifo", 0666), 0);
    read_fails("missing", "No such file");
    read_fails("missing/deeper", "No such file");
    read_fails("folder", "directory");
    read_fails("fifo", "not a regular file");
    read_fails("/dev/zero", "not a regular file");
    read_fails("", "No such file");
}

/* Root may read everything, so the test steps down for the time of the attempt. */
static void read_without_permission(void **state)
{
    struct error error = {0};
    bool root = geteuid() == 0;

    (void)state;
    assert_true(file_write("secret", "x", 1, &error));
    assert_int_equal(chmod("secret", 0), 0);
    if (root)
        assert_int_equal(seteuid(65534), 0);
    read_fails("secret", "Permission denied");
    if (root)
        assert_int_equal(seteuid(0), 0);
}

static void read_standard_input(void **state)
{
    struct buffer buffer = {0};
    struct error error = {0};
    int ends[2], saved = dup(STDIN_FILENO);

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "through a pipe", 14), 14);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    assert_true(file_read("-", &buffer, &error));
    assert_string_equal(buffer.data, "through a pipe");
    /* Write-only, so that the read itself fails. */
    dup2(open("/dev/null", O_WRONLY), STDIN_FILENO);
    assert_false(file_read("-", &buffer, &error));
    assert_int_equal(error.code, EXIT_USAGE);
    assert_non_null(strstr(error.text, "standard input"));
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    buffer_free(&buffer);
}

static void write_fails(const char *path, const char *reason)
{
    struct error error = {0};
    char part[200];

    assert_false(file_write(path, "text", 4, &error));
    assert_int_equal(error.code, EXIT_USAGE);
    if (strstr(error.text, reason) == NULL)
        fail_msg("\"%s\" says not \"%s\"", error.text, reason);
    snprintf(part, sizeof part, "%s.part", path);
    assert_int_equal(access(part, F_OK), -1);
}

static void write_failures(void **state)
{
    (void)state;
    assert_int_equal(mkdir("target", 0777), 0);
    write_fails("target", "directory");
    write_fails("missing/file", "No such file");
}

/* Standard output on a full disk. */
static void write_without_room(void **state)
{
    struct error error = {0};
    int saved = dup(STDOUT_FILENO);
    bool good;

    (void)state;
    fflush(stdout);
    dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
    good = file_write("-", "text", 4, &error);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_false(good);
    assert_int_equal(error.code, EXIT_USAGE);
    assert_non_null(strstr(error.text, "standard output"));
    assert_non_null(strstr(error.text, "No space left"));
}

/* A FIFO stands for every kind of special file, also for those that a rename would destroy. */
static void special_files_are_written_in_place(void **state)
{
    struct error error = {0};
    struct stat status;
    char text[10] = "";
    int reader;

    (void)state;
    assert_int_equal(mkfifo("pipe", 0666), 0);
    reader = open("pipe", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_true(file_write("pipe", "text", 4, &error));
    assert_int_equal(lstat("pipe", &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(read(reader, text, sizeof text), 4);
    assert_string_equal(text, "text");
    close(reader);
}

/* A file-size limit stands in for the full disk: the old contents survive, the part is gone. */
static void failing_write_keeps_the_old_file(void **state)
{
    struct rlimit limit = {0}, old;
    struct buffer buffer = {0};
    struct error error = {0};
    char large[100] = {0};
    bool good;

    (void)state;
    assert_true(file_write("kept", "old", 3, &error));
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit.rlim_max = old.rlim_max;
    limit.rlim_cur = 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    good = file_write("kept", large, sizeof large, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_false(good);
    assert_non_null(strstr(error.text, "File too large"));
    assert_int_equal(access("kept.part", F_OK), -1);
    error = (struct error){0};
    assert_true(file_read("kept", &buffer, &error));
    assert_string_equal(buffer.data, "old");
    buffer_free(&buffer);
}

static void write_keeps_links_and_modes(void **state)
{
    struct error error = {0};
    struct stat status;

    (void)state;
    assert_true(file_write("real", "old", 3, &error));
    assert_int_equal(chmod("real", 0640), 0);
    assert_int_equal(symlink("real", "link"), 0);
    assert_true(file_write("link", "longer", 6, &error));
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat("real", &status), 0);
    assert_int_equal(status.st_size, 6);
    assert_int_equal(status.st_mode & 07777, 0640);
}

static void write_standard_output(void **state)
{
    struct buffer buffer = {0};
    struct error error = {0};
    int saved = dup(STDOUT_FILENO);
    bool good;

    (void)state;
    fflush(stdout);
    assert_non_null(freopen("output", "w", stdout));
    printf("printed, ");
    good = file_write("-", "written", 7, &error);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_true(good);
    assert_true(file_read("output", &buffer, &error));
    assert_string_equal(buffer.data, "printed, written");
    buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_buffer),
        cmocka_unit_test(grows_and_stays_terminated),
        cmocka_unit_test(zero_bytes_are_kept),
        cmocka_unit_test(printf_of_every_length),
        cmocka_unit_test(memory_helpers),
        cmocka_unit_test(too_much_memory_ends_the_program),
        cmocka_unit_test(file_round_trip),
        cmocka_unit_test(read_failures),
        cmocka_unit_test(read_without_permission),
        cmocka_unit_test(read_standard_input),
        cmocka_unit_test(write_failures),
        cmocka_unit_test(write_without_room),
        cmocka_unit_test(special_files_are_written_in_place),
        cmocka_unit_test(failing_write_keeps_the_old_file),
        cmocka_unit_test(write_keeps_links_and_modes),
        cmocka_unit_test(write_standard_output),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
