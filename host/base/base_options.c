#include "base_options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ nearest name */

static size_t smallest(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t text_distance(const char *one, const char *other)
{
    size_t rows = strlen(one) + 1, columns = strlen(other) + 1;
    size_t *table = memory_new(rows * columns, sizeof *table);
    size_t distance;

    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            size_t *cell = table + r * columns + c;

            if (r == 0 || c == 0) {
                *cell = r + c;
                continue;
            }
            *cell = smallest(cell[-1], cell[-(ptrdiff_t)columns]) + 1;
            *cell = smallest(*cell,
                             cell[-(ptrdiff_t)columns - 1] + (one[r - 1] != other[c - 1] ? 1 : 0));
            if (r > 1 && c > 1 && one[r - 1] == other[c - 2] && one[r - 2] == other[c - 1])
                *cell = smallest(*cell, cell[-2 * (ptrdiff_t)columns - 2] + 1);
        }
    }
    distance = table[rows * columns - 1];
    free(table);
    return distance;
}

/* ------------------------------------------------------------------ values */

/* "-o" or "--output", as the messages call an option. */
static const char *row_name(const struct option_row *row, char *space, size_t size)
{
    if (row->name != NULL)
        snprintf(space, size, "--%s", row->name);
    else
        snprintf(space, size, "-%c", row->letter);
    return space;
}

static bool parse_unsigned(const char *text, uint64_t *value)
{
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hexadecimal ? text + 2 : text;
    char *end;

    /* strtoull itself would accept blanks and a minus sign. */
    if (hexadecimal ? isxdigit((unsigned char)*digits) == 0 : isdigit((unsigned char)*digits) == 0)
        return false;
    errno = 0;
    *value = strtoull(digits, &end, hexadecimal ? 16 : 10);
    return errno == 0 && *end == 0;
}

static bool parse_number(const char *text, double *value)
{
    char *end;

    /* No blanks, no "nan", no "inf", no hexadecimal floats. */
    if (*text == 0 || text[strspn(text, "0123456789.+-eE")] != 0)
        return false;
    *value = strtod(text, &end);
    return *end == 0 && isfinite(*value);
}

/* Exact: no double is involved. Digits finer than a nanosecond are refused unless they are zero. */
static bool parse_time(const char *text, int64_t *value)
{
    static const struct {
        const char *unit;
        int64_t nanoseconds;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    bool negative = *text == '-';
    const char *digits = negative ? text + 1 : text;
    size_t whole = strspn(digits, "0123456789"), fraction = 0;
    const char *unit = digits + whole;
    int64_t sum = 0, scale = 0;

    if (*unit == '.') {
        fraction = strspn(unit + 1, "0123456789");
        unit += 1 + fraction;
        if (fraction == 0)
            return false;
    }
    if (whole == 0)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(unit, units[i].unit) == 0)
            scale = units[i].nanoseconds;
    }
    if (scale == 0)
        return false;
    for (size_t i = 0; i < whole; i++) {
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, (digits[i] - '0') * scale, &sum))
            return false;
    }
    for (size_t i = 0; i < fraction; i++) {
        char digit = digits[whole + 1 + i];

        if (scale == 1 && digit != '0')
            return false;
        if (scale > 1)
            scale /= 10;
        if (digit != '0' && __builtin_add_overflow(sum, (digit - '0') * scale, &sum))
            return false;
    }
    *value = negative ? -sum : sum;
    return true;
}

static bool in_range(const struct option_row *row, const char *name, const char *text,
                     uint64_t value, struct error *error)
{
    uint64_t maximum = row->maximum != 0 ? row->maximum : UINT64_MAX;

    if (value >= row->minimum && value <= maximum)
        return true;
    if (row->maximum == 0 && row->minimum != 0)
        error_set(error, EXIT_USAGE, "%s %s is out of range: give %" PRIu64 " or more", name, text,
                  row->minimum);
    else
        error_set(error, EXIT_USAGE,
                  "%s %s is out of range: give a whole number from %" PRIu64 " to %" PRIu64, name,
                  text, row->minimum, maximum);
    return false;
}

static bool set_value(const struct option_row *row, const char *text, struct error *error)
{
    char space[80];
    const char *name = row_name(row, space, sizeof space);
    uint64_t whole = 0;

    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)row->value = true;
        return true;
    case OPTION_TEXT:
        *(const char **)row->value = text;
        return true;
    case OPTION_UNSIGNED:
        if (!parse_unsigned(text, &whole)) {
            error_set(error, EXIT_USAGE,
                      "%s '%s' is no whole number: give decimal digits or 0x and hexadecimal ones, "
                      "below 2^64",
                      name, text);
            return false;
        }
        if (!in_range(row, name, text, whole, error))
            return false;
        *(uint64_t *)row->value = whole;
        return true;
    case OPTION_NUMBER:
        if (parse_number(text, row->value))
            return true;
        error_set(error, EXIT_USAGE, "%s '%s' is no number: give one such as 12, 0.5 or 1e-3", name,
                  text);
        return false;
    case OPTION_TIME:
        if (parse_time(text, row->value))
            return true;
        error_set(
            error, EXIT_USAGE,
            "%s '%s' is no time: give a number with its unit ns, us, ms or s, such as 1.5s, in "
            "steps of 1ns and below 292 years",
            name, text);
        return false;
    }
    die("option table: %s has the unknown kind %d", name, (int)row->kind);
}

/* ------------------------------------------------------------------ command line */

struct scan {
    const struct command *command;
    const struct option_row *rows;
    int argc;
    char **argv;
    int at; /* the argument under examination */
    struct error *error;
};

static bool is_end(const struct option_row *row)
{
    return row->letter == 0 && row->name == NULL;
}

static const struct option_row *find_letter(const struct option_row *rows, char letter)
{
    for (; !is_end(rows); rows++) {
        if (rows->letter == letter)
            return rows;
    }
    return NULL;
}

static const struct option_row *find_name(const struct option_row *rows, const char *name,
                                          size_t size)
{
    for (; !is_end(rows); rows++) {
        if (rows->name != NULL && strlen(rows->name) == size && memcmp(rows->name, name, size) == 0)
            return rows;
    }
    return NULL;
}

static void print_manual_and_end(const struct scan *scan)
{
    struct buffer manual = {0};
    struct error error = {0};

    options_manual(scan->command, scan->rows, &manual);
    if (!file_write("-", manual.data, manual.size, &error))
        exit(error_report(&error));
    exit(EXIT_DONE);
}

static void set_unknown(const struct scan *scan, const char *name, size_t size)
{
    struct buffer given = {0};
    const char *nearest = "help";
    size_t best;

    buffer_append(&given, name, size);
    best = text_distance(given.data, nearest);
    for (const struct option_row *row = scan->rows; !is_end(row); row++) {
        size_t distance = row->name != NULL ? text_distance(given.data, row->name) : SIZE_MAX;

        if (distance < best) {
            best = distance;
            nearest = row->name;
        }
    }
    error_set(scan->error, EXIT_USAGE,
              "%s: unknown option --%s; the nearest is --%s ('tare %s --help' lists all)",
              scan->command->name, given.data, nearest, scan->command->name);
    buffer_free(&given);
}

/* The argument behind the option that stands at scan->at, which it steps over; NULL when missing.
 */
static const char *take_value(struct scan *scan, const struct option_row *row)
{
    char space[80];

    /* "--" ends the options, so it is never the value of one: `-o -- CMD` is a forgotten FILE. */
    if (scan->at + 1 < scan->argc && strcmp(scan->argv[scan->at + 1], "--") != 0)
        return scan->argv[++scan->at];
    error_set(scan->error, EXIT_USAGE, "%s: %s needs a value: %s", scan->command->name,
              row_name(row, space, sizeof space), row->argument != NULL ? row->argument : "VALUE");
    return NULL;
}

static bool parse_long(struct scan *scan)
{
    const char *name = scan->argv[scan->at] + 2;
    const char *equals = strchr(name, '=');
    size_t size = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct option_row *row = find_name(scan->rows, name, size);
    const char *value = equals != NULL ? equals + 1 : NULL;

    if (row == NULL) {
        if (strcmp(name, "help") == 0)
            print_manual_and_end(scan);
        set_unknown(scan, name, size);
        return false;
    }
    if (row->kind == OPTION_FLAG) {
        if (value == NULL)
            return set_value(row, NULL, scan->error);
        error_set(scan->error, EXIT_USAGE, "%s: --%s takes no value, but got '%s'",
                  scan->command->name, row->name, value);
        return false;
    }
    if (value == NULL)
        value = take_value(scan, row);
    return value != NULL && set_value(row, value, scan->error);
}

/* "-q", "-qo FILE", "-oFILE". */
static bool parse_letters(struct scan *scan)
{
    for (const char *letter = scan->argv[scan->at] + 1; *letter != 0; letter++) {
        const struct option_row *row = find_letter(scan->rows, *letter);
        const char *value;

        if (row == NULL) {
            if (*letter == 'h')
                print_manual_and_end(scan);
            error_set(scan->error, EXIT_USAGE,
                      "%s: unknown option -%c ('tare %s --help' lists all)", scan->command->name,
                      *letter, scan->command->name);
            return false;
        }
        if (row->kind == OPTION_FLAG) {
            set_value(row, NULL, scan->error);
            continue;
        }
        value = letter[1] != 0 ? letter + 1 : take_value(scan, row);
        return value != NULL && set_value(row, value, scan->error);
    }
    return true;
}

bool options_parse(const struct command *command, const struct option_row *rows, int argc,
                   char **argv, int *argument_count, char ***rest, int *rest_count,
                   struct error *error)
{
    struct scan scan = {command, rows, argc, argv, 1, error};
    int arguments = 0;

    *rest = NULL;
    *rest_count = 0;
    *argument_count = 0;
    for (; scan.at < argc; scan.at++) {
        char *word = argv[scan.at];
        bool good = true;

        if (strcmp(word, "--") == 0) {
            *rest = argv + scan.at + 1;
            *rest_count = argc - scan.at - 1;
            break;
        }
        if (word[0] != '-' || word[1] == 0)
            /* Never ahead of the scan, so nothing unread is overwritten. */
            argv[1 + arguments++] = word;
        else if (word[1] == '-')
            good = parse_long(&scan);
        else
            good = parse_letters(&scan);
        if (!good)
            return false;
    }
    *argument_count = arguments;
    return true;
}

/* ------------------------------------------------------------------ manual */

#define MANUAL_WIDTH 80
#define MANUAL_COLUMN 26

static void write_wrapped(struct buffer *into, size_t column, const char *text)
{
    size_t at = column;

    while (*text != 0) {
        size_t word = strcspn(text, " ");

        if (at + word > MANUAL_WIDTH && at > column) {
            buffer_printf(into, "\n%*s", (int)column, "");
            at = column;
        }
        buffer_append(into, text, word);
        at += word;
        text += word;
        if (*text == ' ') {
            text++;
            /* The blank stays off the end of a line. */
            if (at + 1 + strcspn(text, " ") <= MANUAL_WIDTH) {
                buffer_append(into, " ", 1);
                at++;
            } else {
                buffer_printf(into, "\n%*s", (int)column, "");
                at = column;
            }
        }
    }
    buffer_append(into, "\n", 1);
}

static void write_row(struct buffer *into, const struct option_row *row)
{
    size_t start = into->size, width;

    if (row->letter != 0 && row->name != NULL)
        buffer_printf(into, "  -%c, --%s", row->letter, row->name);
    else if (row->letter != 0)
        buffer_printf(into, "  -%c", row->letter);
    else
        buffer_printf(into, "      --%s", row->name);
    if (row->kind != OPTION_FLAG)
        buffer_printf(into, " %s", row->argument != NULL ? row->argument : "VALUE");
    width = into->size - start;
    if (width + 2 > MANUAL_COLUMN)
        buffer_printf(into, "\n%*s", MANUAL_COLUMN, "");
    else
        buffer_printf(into, "%*s", (int)(MANUAL_COLUMN - width), "");
    write_wrapped(into, MANUAL_COLUMN, row->help);
}

void options_manual(const struct command *command, const struct option_row *rows,
                    struct buffer *into)
{
    static const struct option_row help = {
        'h', "help", OPTION_FLAG, NULL, NULL, "Print this manual.", 0, 0};
    static const struct option_row long_help = {
        0, "help", OPTION_FLAG, NULL, NULL, "Print this manual.", 0, 0};

    buffer_printf(into, "tare %s: %s\n\nUsage: tare %s %s\n", command->name, command->summary,
                  command->name, command->synopsis);
    if (command->details != NULL && command->details[0] != 0) {
        size_t size = strlen(command->details);

        buffer_printf(into, "\n%s%s", command->details,
                      command->details[size - 1] == '\n' ? "" : "\n");
    }
    buffer_text(into, "\nOptions:\n");
    for (const struct option_row *row = rows; !is_end(row); row++)
        write_row(into, row);
    write_row(into, find_letter(rows, 'h') == NULL ? &help : &long_help);
}
