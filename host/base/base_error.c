#include "base_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base_progress.h"

void error_set(struct error *error, enum exit_code code, const char *format, ...)
{
    va_list arguments;

    if (error->code != EXIT_DONE)
        return;
    error->code = code;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
}

int error_report(const struct error *error)
{
    progress_hide();
    fprintf(stderr, "tare: %s\n", error->text);
    return error->code;
}

void warn(const char *format, ...)
{
    va_list arguments;

    progress_hide();
    fputs("tare: warning: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void die(const char *format, ...)
{
    va_list arguments;

    progress_hide();
    fputs("tare: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_RECORD_FAULT);
}
