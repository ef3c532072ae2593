/* What the machine is and how fast it is right now; what the images hold. */
#ifndef CMD_COST_HOST_H
#define CMD_COST_HOST_H

#include <stddef.h>

#include "ana_cost.h"

/* Times a fixed computation (some 15 ms): nanoseconds of the fastest of five equal parts, so that a
 * change shows the machine's speed and not its load. */
double host_sentinel_ns(void);

double host_load_average(void); /* 1 minute; NaN when it cannot be read */

/* Processor, kernel, compiler of this program and so on, in print order. Free with host_facts_free.
 */
struct cost_fact *host_facts(size_t *count);
void cost_facts_free(struct cost_fact *facts, size_t count);

/* Hash and sizes of a file; `name` is what the experiment calls it. bytes is NaN when it cannot be
 * read. */
struct cost_image host_image(const char *name, const char *path);

/* Size of a file, or of all files in a folder together; NaN when there is none. */
double host_size_bytes(const char *path);

#endif
