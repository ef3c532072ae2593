/* What the files of the reader of a target's memory share. */
#ifndef CAP_MEMORY_PARTS_H
#define CAP_MEMORY_PARTS_H

#include "cap_memory.h"
#include "cap_memory_map.h"

struct memory_map memory_map(const struct memory_reader *reader);
uint32_t memory_attached(const struct memory_reader *reader);
/* Maps the file that has the name now; QEMU makes its file anew when it starts. */
void memory_follow_file(struct memory_reader *reader);
/* Whether the file still holds all that is mapped: beyond its end there is nothing to read. */
bool memory_is_whole(struct memory_reader *reader);

/* Begins the stream of a sound block, or says in `refusal` why its words deny it. */
void memory_attach(struct memory_reader *reader, const struct block_view *view, uint64_t now_ns);
/* Puts the words that wait into a chunk. */
void memory_flush_ring(struct memory_reader *reader, struct memory_ring *own);
void memory_read_names(struct memory_reader *reader, struct memory_ring *own,
                       const struct block_view *view);
void memory_end_ring(struct memory_reader *reader, struct memory_ring *own);
/* The block went away or began anew; what it held is lost with it. */
void memory_break_ring(struct memory_reader *reader, struct memory_ring *own, const char *reason);

/* Stream index of what is written next. */
uint32_t memory_head(const struct memory_map *map, const struct block_view *view);
/* Of a ring that is overwritten: stream index of the first word that can still be trusted. */
uint32_t memory_tail(const struct block_view *view, uint32_t head);

#endif
