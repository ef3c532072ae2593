/* Images of memory: the RAM of a target, the shared memory of a session, a core file. Finds the
 * rings by their magic and lists their unread words as segments. */
#ifndef DEC_IMAGE_H
#define DEC_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "dec_container.h"

struct image_options {
    bool base_given;
    uint64_t base; /* address of the first byte, where the rings' own address does not tell it */
};

struct image_facts {
    uint32_t rings;           /* usable ones */
    uint32_t unusable;        /* rings whose size or offsets cannot be */
    uint64_t unusable_offset; /* of the first of them: in the file */
    uint32_t outside;         /* good ones whose buffer is not in the image */
    uint64_t outside_offset;  /* of the first of them: in the file */
    uint32_t outside_address; /* and the address of its buffer, or of the channel that it uses */
    uint32_t names_missing;   /* rings whose names table cannot be read */
    uint64_t names_offset;    /* of the first of them: in the file */
    uint32_t names_address;   /* and the address of its names */
    bool foreign;             /* a ring or region of another format version was found, */
    uint32_t foreign_version; /* the first of them of this one */
};

void image_index(struct source *source, const struct image_options *options,
                 struct segment_list *list, struct decode_directory *directory,
                 struct container_facts *container, struct image_facts *facts);

#endif
