/* Tare event recorder: the whole public interface.
 *
 * Use: copy the folder recorder/ into your project, compile tare.c, include this header.
 *
 *     TARE_CATEGORY(net, 0, "network")
 *     TARE_EVENT1(block_received, net, "block received", u32, sequence, "")
 *     ...
 *     block_received(sequence);
 *
 * Eight macros declare (once, at file scope), seven calls control. With TARE_ENABLED 0 every macro
 * still declares the same functions, all of them empty, and tare.c compiles to nothing.
 *
 * Every generated function may be called from tasks, threads, interrupts and signal handlers. It
 * never blocks, never allocates and returns nothing: an event without room is counted, and the
 * count is itself recorded. Cost class of each call: [hot]  a few tens of instructions (the budgets
 * are in cost/budgets.json and checked by ./test); the words are written under the port's lock.
 * Category off: load, test, branch. [text] one hot record and one more for every 8 bytes of text;
 * no lock is held over the length. [rare] walks lists, allocates or calls the system; never call it
 * from an interrupt.
 *
 * A signal handler that interrupts an event of its own thread finds the recorder busy: its events
 * are counted as suppressed. If it leaves by siglongjmp, that thread stays busy and all its later
 * events are suppressed, and counted.
 *
 * Thread safety: every call may be made from any thread at any time, except tare_start and
 * tare_stop on a target without threads, which belong into start-up and shut-down code.
 */
#ifndef TARE_H
#define TARE_H

#include <stddef.h>
#include <stdint.h>

#include "tare_conf.h"
#include "tare_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ control: seven calls */

/* What tare_counts gives: totals since tare_start, modulo 2^32. Stored events are not counted on
 * the target, where it would cost an instruction each; a reader counts them, and then attempted =
 * stored + dropped + suppressed. */
struct tare_totals {
    uint32_t words;      /* written to the rings, the recorder's own notes included */
    uint32_t dropped;    /* events that found no room in the ring */
    uint32_t suppressed; /* events from inside the recorder (a signal handler that interrupted it),
                            or of a thread that got no ring */
};

#if TARE_ENABLED

/* Starts recording. [rare]
 * Linux: runs by itself before main when the program was started by `tare record`; calling it again
 * does nothing. Target: call once before the first event. Tests the clock, assigns ids, measures
 * the cost of each event length on this very machine (a few microseconds) and writes both, with all
 * names, into the recording.
 * Returns 0, or a negative TARE_ERROR_*; after an error every event stays switched off. */
int tare_start(void);

/* Ends recording: writes the last losses and an end record with the totals into the room that is
 * reserved for them, then switches every category off. [rare]
 * Linux: runs by itself at exit(), behind the destructors of the program. */
void tare_stop(void);

/* Target only (on Linux they do nothing). Both keep the 64-bit time through silences: one of them
 * must be called at least once per half turn of the port's clock, on each core.
 * tare_tick: from the tick of a kernel, also under its lock; records its count now and then as a
 * second clock. [hot]
 * tare_service: from a loop, an idle hook, a timer or a task of low priority, and from one place
 * only; takes a command from the reader, and writes a name at a time for readers that come late.
 * [text] */
void tare_service(void);
void tare_tick(uint32_t count);

/* Switches categories on or off, bit n for category n; takes effect at the next event of every
 * thread. [hot] */
void tare_enable(uint32_t categories);
void tare_disable(uint32_t categories);

/* Names the calling thread in the recording (at most 63 bytes are kept). On a target without
 * threads it names the core. [rare] */
void tare_thread_name(const char *name);

/* Sums the counts of this process (Linux) or core (target) [rare]. Exact once the other threads are
 * quiet; while they record, each figure is at most one event a thread behind. */
void tare_counts(struct tare_totals *counts);

/* For transports (transport/), target only: the ring of a core, and its up channel with the
 * offsets, which need not lie in the ring. Any time; valid after tare_start. */
struct tare_ring *tare_ring_of_core(uint32_t core);
struct tare_channel *tare_channel_of_core(uint32_t core);

#endif /* TARE_ENABLED */

#define TARE_ERROR_NO_SESSION (-1) /* Linux: not started by `tare record`; events stay off */
#define TARE_ERROR_REGION \
    (-2) /* Linux: shared memory of the session missing or of another version */
#define TARE_ERROR_CLOCK (-3) /* the clock stands still or runs backwards */
#define TARE_ERROR_CACHE (-4) /* target: a data cache lies between the ring and its reader */

/* ------------------------------------------------------------------ declaring events: eight macros
 *
 * All stand at file scope and end without a semicolon. `symbol` becomes the name of the
 * function(s); `category` is a symbol declared by TARE_CATEGORY; `text` is shown to people and may
 * hold spaces. Types of arguments: u32, i32, x32 (shown in hexadecimal), f32 (32-bit float). `unit`
 * is shown behind the number ("B", "us", "blocks"); "" for none; "{free,pending}" gives the values
 * 0, 1, ... these names.
 */

/* A switch for a group of events: number 0 to 31, unique in the program. */
#define TARE_CATEGORY(symbol, number, text) TARE_PRIVATE_CATEGORY(symbol, number, text)

/* void symbol(void): 4 bytes in the ring. [hot] */
#define TARE_EVENT0(symbol, category, text) TARE_PRIVATE_EVENT0(symbol, category, text)

/* void symbol(type name): 8 bytes in the ring. [hot] */
#define TARE_EVENT1(symbol, category, text, type, name, unit) \
    TARE_PRIVATE_EVENT1(symbol, category, TARE_CLASS_EVENT, text, type, name, unit)

/* void symbol(type1 name1, type2 name2): 12 bytes in the ring. [hot] */
#define TARE_EVENT2(symbol, category, text, type1, name1, unit1, type2, name2, unit2) \
    TARE_PRIVATE_EVENT2(symbol, category, text, type1, name1, unit1, type2, name2, unit2)

/* void symbol(type value): a quantity over time, drawn as a graph; 8 bytes. [hot] */
#define TARE_VALUE(symbol, category, text, type, unit) \
    TARE_PRIVATE_EVENT1(symbol, category, TARE_CLASS_VALUE, text, type, value, unit)

/* void symbol_begin(uint32_t id), void symbol_end(uint32_t id): a span of time, 8 bytes each. The
 * id tells spans of the same symbol apart that overlap; the end may come from another thread. [hot]
 */
#define TARE_SPAN(symbol, category, text) TARE_PRIVATE_SPAN(symbol, category, text)

/* void symbol(const char *string): at most TARE_TEXT_LIMIT bytes are kept. [text] */
#define TARE_STRING(symbol, category, text) TARE_PRIVATE_STRING(symbol, category, text)

/* void symbol(uint32_t state): a state machine per thread; `states` is "{idle,running,...}". [hot]
 */
#define TARE_STATES(symbol, category, text, states) \
    TARE_PRIVATE_EVENT1(symbol, category, TARE_CLASS_STATE, text, u32, state, states)

#include "tare_declare.inl"

#ifdef __cplusplus
}
#endif

#endif /* TARE_H */
