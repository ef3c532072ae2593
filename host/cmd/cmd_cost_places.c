#include "cmd_cost_places.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_buffer.h"
#include "cmd_cost_experiment.h"

static char *folder_of(const char *path)
{
    char *copy = memory_text(path);
    char *folder = memory_text(dirname(copy));
    free(copy);
    return folder;
}

/* The build folder is the one above this program that holds CMake's cache. */
static char *build_of(const char *program)
{
    char *folder = folder_of(program);
    char *nearest = memory_text(folder);
    for (int level = 0; level < 4; level++) {
        char cache[PATH_MAX + 32];
        snprintf(cache, sizeof cache, "%s/CMakeCache.txt", folder);
        if (access(cache, R_OK) == 0) {
            free(nearest);
            return folder;
        }
        char *above = folder_of(folder);
        free(folder);
        folder = above;
    }
    free(folder);
    return nearest;
}

bool cost_places_find(struct cost_places *places, const char *experiment, const char *build,
                      struct error *error)
{
    char program[PATH_MAX + 1];
    ssize_t length = readlink("/proc/self/exe", program, PATH_MAX);
    if (length < 0) {
        error_set(error, EXIT_USAGE, "cannot find this program's own path: %s", strerror(errno));
        return false;
    }
    program[length] = 0;
    places->tare = memory_text(program);
    char *folder = folder_of(experiment);
    places->here = realpath(folder, NULL);
    free(folder);
    if (places->here == NULL) {
        error_set(error, EXIT_USAGE, "%s: %s", experiment, strerror(errno));
        return false;
    }
    places->build = build != NULL ? realpath(build, NULL) : build_of(program);
    if (places->build == NULL) {
        error_set(error, EXIT_USAGE, "--build %s: %s", build, strerror(errno));
        return false;
    }
    return true;
}

void cost_places_free(struct cost_places *places)
{
    free(places->build);
    free(places->tare);
    free(places->out);
    free(places->here);
    *places = (struct cost_places){0};
}

char *cost_expand(const struct cost_places *places, const char *text)
{
    const struct {
        const char *name, *value;
    } variables[] = {{"${build}", places->build}, {"${tare}", places->tare},
                     {"${out}", places->out},     {"${run}", places->run},
                     {"${here}", places->here},   {"${recording}", places->recording},
                     {"${block}", places->block}};
    struct buffer out = {0};
    buffer_text(&out, "");
    while (*text != 0) {
        size_t taken = 0;
        for (size_t i = 0; i < sizeof variables / sizeof *variables && taken == 0; i++) {
            size_t length = strlen(variables[i].name);
            if (variables[i].value != NULL && strncmp(text, variables[i].name, length) == 0) {
                buffer_text(&out, variables[i].value);
                taken = length;
            }
        }
        if (taken == 0) {
            buffer_append(&out, text, 1);
            taken = 1;
        }
        text += taken;
    }
    return out.data;
}

char **cost_expand_argv(const struct cost_places *places, char *const *words, size_t count)
{
    /* A measuring parent takes eight words. */
    char **argv = memory_new(8 * count + 1, sizeof *argv);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        bool process = strcmp(words[i], measure_process_word) == 0;
        bool collector = strcmp(words[i], measure_collector_word) == 0;
        if (!process && !collector) {
            argv[used++] = cost_expand(places, words[i]);
            continue;
        }
        const char *const parent[] = {
            places->tare, "cost",           "measure", "--role", process ? "process" : "collector",
            "--into",     places->measured, "--"};
        for (size_t k = 0; k < sizeof parent / sizeof *parent; k++) {
            argv[used++] = memory_text(parent[k]);
        }
    }
    return argv;
}

void cost_argv_free(char **argv)
{
    for (char **word = argv; word != NULL && *word != NULL; word++) {
        free(*word);
    }
    free(argv);
}

bool cost_program_exists(const char *word)
{
    if (strchr(word, '/') != NULL) {
        return access(word, X_OK) == 0;
    }
    const char *folders = getenv("PATH");
    char path[PATH_MAX];
    while (folders != NULL && *folders != 0) {
        size_t length = strcspn(folders, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, folders, word);
        if (access(path, X_OK) == 0) {
            return true;
        }
        folders += length + (folders[length] == ':');
    }
    return false;
}

bool cost_requirement_met(const char *word)
{
    return cost_program_exists(word) || (strchr(word, '/') != NULL && access(word, R_OK) == 0);
}
