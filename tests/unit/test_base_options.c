/* base_options: every kind of option, every refusal, "--", and the manual. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base_options.h"

static bool quiet;
static const char *output;
static uint64_t blocks, any;
static double share;
static int64_t from;

static const struct option_row rows[] = {
    {'q', "quiet", OPTION_FLAG, &quiet, NULL, "Print no progress.", 0, 0},
    {'o', "output", OPTION_TEXT, &output, "FILE", "Write to FILE (default: standard output).", 0,
     0},
    {0, "blocks", OPTION_UNSIGNED, &blocks, "N", "Blocks, 7 to 64 (default 8).", 7, 64},
    {'a', NULL, OPTION_UNSIGNED, &any, "N", "Any number.", 0, 0},
    {0, "share", OPTION_NUMBER, &share, "X", "Share.", 0, 0},
    {0, "from", OPTION_TIME, &from, "TIME",
     "Leave out what happened before TIME since the start, a number with its unit; the sentence is "
     "long so that it must be wrapped.",
     0, 0},
    {0}};

static const struct command command = {"dump", "FILE [options]", "prints a recording",
                                       "Details stand here.", NULL};

/* The words of one command line and what became of them. */
static char *words[20];
static int argument_count, rest_count;
static char **rest;
static struct error error;

static bool parse(const char *line)
{
    static char text[1000];
    char *next = NULL;
    int argc = 0;

    quiet = false;
    output = NULL;
    blocks = 8;
    any = 0;
    share = 0.5;
    from = -1;
    error = (struct error){0};
    snprintf(text, sizeof text, "dump %s", line);
    for (char *word = strtok_r(text, " ", &next); word != NULL; word = strtok_r(NULL, " ", &next))
        words[argc++] = word;
    words[argc] = NULL;
    return options_parse(&command, rows, argc, words, &argument_count, &rest, &rest_count, &error);
}

static void refused(const char *line, const char *text)
{
    assert_false(parse(line));
    assert_int_equal(error.code, EXIT_USAGE);
    if (strstr(error.text, text) == NULL)
        fail_msg("\"%s\": \"%s\" says not \"%s\"", line, error.text, text);
}

static void nothing_given(void **state)
{
    (void)state;
    assert_true(parse(""));
    assert_int_equal(argument_count, 0);
    assert_null(rest);
    assert_int_equal(rest_count, 0);
    assert_int_equal(blocks, 8);
    assert_null(output);
}

static void every_kind(void **state)
{
    (void)state;
    assert_true(parse("-q -o x --blocks 7 -a 0xfFffFFFFffffFFFF --share=1e-3 --from=1.5ms"));
    assert_true(quiet);
    assert_string_equal(output, "x");
    assert_int_equal(blocks, 7);
    assert_true(any == UINT64_MAX);
    assert_true(share == 1e-3);
    assert_int_equal(from, 1500000);
    assert_true(parse("--quiet --output=a=b --blocks=64 -a010"));
    assert_true(quiet);
    assert_string_equal(output, "a=b");
    assert_int_equal(blocks, 64);
    assert_int_equal(any, 10);
    assert_true(parse("--output="));
    assert_string_equal(output, "");
}

static void letters_in_one_word(void **state)
{
    (void)state;
    assert_true(parse("-qofile"));
    assert_true(quiet);
    assert_string_equal(output, "file");
    assert_true(parse("-qo file rest"));
    assert_string_equal(output, "file");
    assert_int_equal(argument_count, 1);
    assert_true(parse("-o -q"));
    assert_string_equal(output, "-q");
    assert_false(quiet);
}

static void arguments_move_to_the_front(void **state)
{
    (void)state;
    assert_true(parse("one -q two --blocks 9 - -o out three"));
    assert_int_equal(argument_count, 4);
    assert_string_equal(words[1], "one");
    assert_string_equal(words[2], "two");
    assert_string_equal(words[3], "-");
    assert_string_equal(words[4], "three");
    assert_string_equal(output, "out");
    assert_null(rest);
}

static void double_dash_ends_the_options(void **state)
{
    (void)state;
    assert_true(parse("one -q -- ls -q --blocks -- x"));
    assert_int_equal(argument_count, 1);
    assert_int_equal(rest_count, 5);
    assert_string_equal(rest[0], "ls");
    assert_string_equal(rest[1], "-q");
    assert_string_equal(rest[3], "--");
    assert_string_equal(rest[4], "x");
    assert_null(rest[5]);
    assert_int_equal(blocks, 8);
    assert_true(parse("one --"));
    assert_non_null(rest);
    assert_int_equal(rest_count, 0);
    assert_null(rest[0]);
}

static void unknown_options(void **state)
{
    (void)state;
    refused("--outptu x", "--output");
    refused("--Blocks=9", "nearest is --blocks");
    refused("--hlep", "nearest is --help");
    refused("-x", "unknown option -x");
    refused("-qx", "unknown option -x");
    refused("--quiet=yes", "takes no value, but got 'yes'");
}

static void missing_values(void **state)
{
    (void)state;
    refused("-o", "--output needs a value: FILE");
    refused("--blocks", "--blocks needs a value: N");
    refused("-a", "-a needs a value");
    refused("-o -- ls", "--output needs a value: FILE");
}

static void bad_numbers(void **state)
{
    static const char *const wrong[] = {"-a=",
                                        "-a-1",
                                        "-a+1",
                                        "-a1.5",
                                        "-a0x",
                                        "-a12k",
                                        "-a18446744073709551616",
                                        "-a0x10000000000000000"};
    static const char *const wrong_share[] = {"--share=",      "--share=x",     "--share=nan",
                                              "--share=inf",   "--share=0x1p3", "--share=1e999",
                                              "--share=1.2.3", "--share=1e"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refused(wrong[i], "no whole number");
    assert_true(parse("-a18446744073709551615"));
    assert_true(any == UINT64_MAX);
    refused("--blocks 6", "from 7 to 64");
    refused("--blocks 65", "from 7 to 64");
    for (size_t i = 0; i < sizeof wrong_share / sizeof wrong_share[0]; i++)
        refused(wrong_share[i], "no number");
    assert_true(parse("--share -2.5"));
    assert_true(share == -2.5);
}

static void time_is(const char *text, int64_t expected)
{
    char line[100];

    snprintf(line, sizeof line, "--from=%s", text);
    if (!parse(line))
        fail_msg("%s: %s", text, error.text);
    if (from != expected)
        fail_msg("%s: %lld is not %lld", text, (long long)from, (long long)expected);
}

static void times(void **state)
{
    static const char *const wrong[] = {"",
                                        "5",
                                        "ms",
                                        "1.5",
                                        "1 ms",
                                        "1.ms",
                                        ".5s",
                                        "1min",
                                        "1.5ns",
                                        "0x10ns",
                                        "1.0000000001s",
                                        "1,5s",
                                        "--5s",
                                        "1e3s",
                                        "9223372036854775808ns",
                                        "9223372037s",
                                        "99999999999999999999s"};

    (void)state;
    time_is("7ns", 7);
    time_is("300us", 300000);
    time_is("12ms", 12000000);
    time_is("1.5s", 1500000000);
    time_is("0.000000001s", 1);
    time_is("1.2500000000000s", 1250000000);
    time_is("2.0ns", 2);
    time_is("-1.5us", -1500);
    time_is("0s", 0);
    time_is("9223372036854775807ns", INT64_MAX);
    time_is("9223372036.854775807s", INT64_MAX);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char line[100];

        snprintf(line, sizeof line, "--from=%s", wrong[i]);
        if (strchr(wrong[i], ' ') == NULL)
            refused(line, "no time");
    }
    refused("--from=1", "unit ns, us, ms or s");
}

static void distances(void **state)
{
    (void)state;
    assert_int_equal(text_distance("", ""), 0);
    assert_int_equal(text_distance("", "abc"), 3);
    assert_int_equal(text_distance("abc", ""), 3);
    assert_int_equal(text_distance("kitten", "sitting"), 3);
    assert_int_equal(text_distance("dmup", "dump"), 1);
    assert_int_equal(text_distance("chek", "check"), 1);
    assert_int_equal(text_distance("checck", "check"), 1);
    assert_int_equal(text_distance("check", "dump"), 5);
}

static const char manual[] =
    "tare dump: prints a recording\n"
    "\n"
    "Usage: tare dump FILE [options]\n"
    "\n"
    "Details stand here.\n"
    "\n"
    "Options:\n"
    "  -q, --quiet             Print no progress.\n"
    "  -o, --output FILE       Write to FILE (default: standard output).\n"
    "      --blocks N          Blocks, 7 to 64 (default 8).\n"
    "  -a N                    Any number.\n"
    "      --share X           Share.\n"
    "      --from TIME         Leave out what happened before TIME since the start, a\n"
    "                          number with its unit; the sentence is long so that it\n"
    "                          must be wrapped.\n"
    "  -h, --help              Print this manual.\n";

static void manual_text(void **state)
{
    struct buffer buffer = {0};

    (void)state;
    options_manual(&command, rows, &buffer);
    assert_string_equal(buffer.data, manual);
    buffer_free(&buffer);
}

/* --help wins even behind other options, prints to stdout and ends with EXIT_DONE. */
static void help_ends_the_program(const char *line)
{
    struct buffer text = {0};
    char bytes[2000];
    ssize_t count;
    int ends[2], status;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        parse(line);
        _exit(77);
    }
    close(ends[1]);
    while ((count = read(ends[0], bytes, sizeof bytes)) > 0)
        buffer_append(&text, bytes, (size_t)count);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_DONE);
    assert_string_equal(text.data, manual);
    buffer_free(&text);
}

static void help(void **state)
{
    (void)state;
    help_ends_the_program("--help");
    help_ends_the_program("file -q -h");
    help_ends_the_program("-qh");
}

static void help_behind_double_dash_is_not_ours(void **state)
{
    (void)state;
    assert_true(parse("-- ls --help"));
    assert_int_equal(rest_count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_given),
        cmocka_unit_test(every_kind),
        cmocka_unit_test(letters_in_one_word),
        cmocka_unit_test(arguments_move_to_the_front),
        cmocka_unit_test(double_dash_ends_the_options),
        cmocka_unit_test(unknown_options),
        cmocka_unit_test(missing_values),
        cmocka_unit_test(bad_numbers),
        cmocka_unit_test(times),
        cmocka_unit_test(distances),
        cmocka_unit_test(manual_text),
        cmocka_unit_test(help),
        cmocka_unit_test(help_behind_double_dash_is_not_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
