/* A whole recording, pulled piece by piece: open, next, next, ..., close.
 *
 *     struct decoder *decoder = decoder_open(path, NULL, &error);
 *     struct decode_run run;
 *     while (decoder != NULL && decoder_next(decoder, &run)) {
 *         const struct note *note = run.notes, *last = note + run.note_count;
 *         for (uint32_t i = 0; i <= run.count; i++) {
 *             for (; note < last && note->before == i; note++)
 *                 take_note(run.stream, note);
 *             if (i < run.count)
 *                 take_event(run.stream, &run.events[i], decoder_definition(run.stream,
 * run.events[i].id));
 *         }
 *     }
 *
 * Reads `.tare` files, raw streams in either byte order, and images of memory with rings (RAM of a
 * target, the shared memory of a session, core files). Every byte may be hostile: the worst that
 * input can do is to be reported as damaged. Memory: a little for each chunk of the file and each
 * stream, and a window for each stream that is open at the moment; not the length of the file.
 */
#ifndef DEC_INPUT_H
#define DEC_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_error.h"
#include "dec_container.h"
#include "dec_directory.h"
#include "dec_record.h"

struct decode_options {
    bool file_order; /* in order of the file, not merged by time */
    bool accept_all; /* open even what holds nothing that can be read */
    bool raw;        /* what is no .tare file is a stream, even if rings are found in it */
    bool base_given; /* image of memory: `base` is the address of its first byte, not told by `self`
                      */
    uint64_t base;
};

/* A run of events of one stream, in record order. Runs come merged by time: ticks never decrease
 * from event to event within a session unless the stream itself has a clock fault. At equal ticks
 * the order within a stream is kept, and a stream is not left before it has passed that time.
 * Sessions come one after the other, since their clocks are not comparable. */
struct decode_run {
    const struct decode_stream *stream;
    const struct event *events;
    uint32_t count;
    const struct note *notes; /* in order; note->before counts from events[0]: 0 to count */
    uint32_t note_count;
    const struct record_batch *batch; /* where text positions of notes point: batch_text() */
    uint32_t first;                   /* number of events[0] in the batch; text.event counts so */
    const struct note *text_hint;     /* private to decoder_text() */
};

enum input_kind {
    INPUT_FILE,
    INPUT_RAW,
    INPUT_IMAGE
};

/* Opens PATH, or "-" for standard input (a pipe is first copied to an unnamed temporary file). NULL
 * with the reason in `error`: EXIT_USAGE (missing, directory, no permission), EXIT_DAMAGED (nothing
 * that can be read: empty, no anchor, a later version). `options` NULL: all defaults. */
struct decoder *decoder_open(const char *path, const struct decode_options *options,
                             struct error *error);

/* False at the end. The run is valid until the next call. */
bool decoder_next(struct decoder *decoder, struct decode_run *run);

void decoder_close(struct decoder *decoder);

enum input_kind decoder_kind(const struct decoder *decoder);
const struct decode_directory *decoder_directory(const struct decoder *decoder);
/* What the file says besides the streams (INFO, END, damage, ...). Complete when decoder_next() has
 * returned false. */
const struct container_facts *decoder_facts(const struct decoder *decoder);
uint64_t decoder_size(const struct decoder *decoder); /* bytes of the input */
uint64_t decoder_done(const struct decoder *decoder); /* bytes read so far, for a progress line */

/* The definition in force for an event of this stream at the place that the last run begins at;
 * runs are cut so that this holds for the whole run. NULL: unknown, show "#id". */
static inline const struct definition *decoder_definition(const struct decode_stream *stream,
                                                          uint32_t id)
{
    return definitions_find(&stream->session->definitions, DEFINITION_EVENT, id);
}

/* Text of the STRING event number `event` of the run: a NOTE_TEXT, which may stand behind the end
 * of the run; its bytes are batch_text(run->batch, note). NULL: its end has not been read (a text
 * of unusual length; it comes as a note of a later run with text.event == NOTE_NO_EVENT). A
 * consumer that prints texts with their events ignores the NOTE_TEXTs whose text.event is a number.
 */
const struct note *decoder_text(struct decode_run *run, uint32_t event);

#endif
