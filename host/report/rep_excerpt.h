/* An excerpt of a recording as the lanes of a picture. */
#ifndef REP_EXCERPT_H
#define REP_EXCERPT_H

#include "mod_excerpt.h"
#include "rep_timeline_svg.h"

struct excerpt_picture {
    struct timeline timeline;
    struct timeline_lane *lanes;
    const char **state_names;
    enum timeline_look *state_looks;
};

/* Refers to the texts of the excerpt, which must outlive it. */
void excerpt_picture_make(struct excerpt_picture *picture, const struct excerpt *excerpt);
void excerpt_picture_free(struct excerpt_picture *picture);

/* "20 ms of NAME, from 1.500000 s after its first event; 3 of the 4 threads ...". `name` NULL: "20
 * ms from 1.500000 s on; ...", in the time of `tare dump`. */
void excerpt_append_note(struct buffer *out, const struct excerpt *excerpt, const char *name);

#endif
