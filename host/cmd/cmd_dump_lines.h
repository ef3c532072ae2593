/* The forms in which `tare dump` prints events and notes. */
#ifndef CMD_DUMP_LINES_H
#define CMD_DUMP_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base_buffer.h"
#include "cmd_dump_kernel.h"
#include "dec_input.h"
#include "mod_clock.h"

enum dump_form {
    DUMP_TEXT,
    DUMP_JSON,
    DUMP_CSV
};

/* What is printed next: an event or a note of a stream. */
struct dump_item {
    const struct decode_run *run;
    const struct session_scale *scale;
    const char *thread;                  /* name of the stream, safe for terminals */
    const char *task;                    /* of the task that runs, the same; NULL: not known */
    const struct event *event;           /* NULL: a note */
    const struct definition *definition; /* of the event */
    struct kernel_event kernel;          /* what else it may be */
    const struct note *text;             /* of the event; NULL: none */
    const struct note *note;
};

struct dump_lines {
    enum dump_form form;
    struct buffer out;
    int thread_width, event_width; /* of the columns of the text form */
};

/* Widths of the columns from all names that are known. */
void dump_measure(struct dump_lines *lines, const struct decode_directory *directory);
/* What stands before everything, before each session, and behind everything. */
void dump_head(struct dump_lines *lines);
void dump_session(struct dump_lines *lines, const struct decode_session *session,
                  const struct session_scale *scale);
void dump_item(struct dump_lines *lines, const struct dump_item *item);
void dump_tail(struct dump_lines *lines, const struct decode_directory *directory,
               const struct container_facts *facts, uint64_t printed);

/* Whether a note is printed at all; the others are details of the format. */
bool dump_shows_note(const struct note *note);
/* Name of a note's kind: "loss", "gap", "fault", "skipped", "unverified", "text", "end". */
const char *dump_note_kind(const struct note *note);

#endif
