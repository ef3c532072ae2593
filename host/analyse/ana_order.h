/* Balanced orders of the arms within the blocks of an experiment.
 *
 * In a complete set of rows every arm stands equally often at every position and equally often
 * directly behind every other arm, so that neither the place in the block nor what the arm before
 * leaves behind (heat, caches, host state) favours one of them. One set has: 2 rows for two arms,
 * all 6 orders for three, a Williams square (as many rows as arms) for an even number, two squares
 * for an odd number (Williams 1949). */
#ifndef ANA_ORDER_H
#define ANA_ORDER_H

#include <stddef.h>
#include <stdint.h>

enum {
    ORDER_ARMS_MAXIMUM = 32
};

/* Rows of one complete set. */
size_t order_set_size(size_t arms);

/* Fills order[block * arms + position] with arm numbers 0 .. arms-1, drawn from the seed: the arms'
 * parts in the square and the sequence of its rows. Blocks beyond a complete set begin a new one,
 * drawn anew; when `blocks` is no multiple of the set, the last set is balanced in part only.
 * 1 <= arms <= ORDER_ARMS_MAXIMUM. The same arguments give the same order on every machine. */
void order_draw(uint64_t seed, size_t arms, size_t blocks, size_t *order);

#endif
