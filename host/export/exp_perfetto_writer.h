/* Packets of Perfetto's trace format: one sequence, absolute times on CLOCK_MONOTONIC, names
 * written once and then referred to by number. What the packets mean is decided in exp_perfetto.c.
 */
#ifndef EXP_PERFETTO_WRITER_H
#define EXP_PERFETTO_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "dec_definition.h"
#include "exp_output.h"
#include "exp_perfetto_fields.h"
#include "exp_table.h"

struct perfetto_writer {
    struct export_output *output;
    struct export_table categories, names, annotation_names, annotation_texts;
    struct buffer fresh;   /* InternedData for the packet that is being written */
    struct buffer scratch; /* text made fit for the format: valid UTF-8, no control characters */
    size_t packet, event;  /* open messages */
};

/* Writes the first packet, which sets the clock for all. */
void perfetto_begin(struct perfetto_writer *writer, struct export_output *output);
void perfetto_free(struct perfetto_writer *writer);

/* One moment on two clocks; realtime 0: not known. */
void perfetto_clock_snapshot(struct perfetto_writer *writer, uint64_t monotonic_ns,
                             uint64_t realtime_ns);

/* Tracks. `uuid` is not 0 and unique in the file; a track is described before its first event. */
void perfetto_process_track(struct perfetto_writer *writer, uint64_t uuid, uint32_t process,
                            const char *name, const char *const *command, uint32_t command_count);
void perfetto_thread_track(struct perfetto_writer *writer, uint64_t uuid, uint64_t parent,
                           uint32_t process, uint32_t thread, const char *name);
void perfetto_track(struct perfetto_writer *writer, uint64_t uuid, uint64_t parent,
                    const char *name);
/* The unit is also put behind the name, for viewers that know only a few units. */
void perfetto_counter_track(struct perfetto_writer *writer, uint64_t uuid, uint64_t parent,
                            const char *name, const char *unit);

/* An event: begin, then in any number and order what belongs to it, then end. */
void perfetto_event_begin(struct perfetto_writer *writer, enum perfetto_event_type type,
                          uint64_t uuid, uint64_t ns);
void perfetto_event_end(struct perfetto_writer *writer);
void perfetto_name(struct perfetto_writer *writer, const char *name);
void perfetto_category(struct perfetto_writer *writer, const char *name);
void perfetto_counter_value(struct perfetto_writer *writer, enum argument_type type, uint32_t word);
/* An argument of the recorded event by its definition; NULL: `name` and hexadecimal. */
void perfetto_argument(struct perfetto_writer *writer, const struct definition_argument *argument,
                       const char *name, uint32_t word);
void perfetto_note_unsigned(struct perfetto_writer *writer, const char *name, uint64_t value);
void perfetto_note_true(struct perfetto_writer *writer, const char *name);
/* Written in place (texts that hardly ever repeat). */
void perfetto_note_text(struct perfetto_writer *writer, const char *name, const char *bytes,
                        size_t size);
/* Written once and referred to. */
void perfetto_note_word(struct perfetto_writer *writer, const char *name, const char *word);

#endif
