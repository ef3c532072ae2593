#include "ana_order.h"

#include <stdbool.h>

#include "ana_random.h"

size_t order_set_size(size_t arms)
{
    return arms == 1 ? 1 : (arms % 2 == 0 ? arms : 2 * arms);
}

/* Row `row` of Williams' design for parts 0 .. arms-1: the zigzag 0, 1, n-1, 2, n-2, ... moved on
 * by the row number; for an odd number of arms the second half of the rows is the first read
 * backwards. */
static size_t williams_part(size_t arms, size_t row, size_t position)
{
    bool backwards = row >= arms;
    size_t place = backwards ? arms - 1 - position : position;
    size_t zigzag = place % 2 == 1 ? (place + 1) / 2 : (arms - place / 2) % arms;
    return (zigzag + row) % arms;
}

void order_draw(uint64_t seed, size_t arms, size_t blocks, size_t *order)
{
    struct random random = {seed};
    size_t set = order_set_size(arms);
    size_t parts[ORDER_ARMS_MAXIMUM];
    size_t rows[2 * ORDER_ARMS_MAXIMUM];
    for (size_t block = 0; block < blocks; block++) {
        if (block % set == 0) {
            for (size_t i = 0; i < arms; i++) {
                parts[i] = i;
            }
            for (size_t i = 0; i < set; i++) {
                rows[i] = i;
            }
            random_shuffle(&random, parts, arms);
            random_shuffle(&random, rows, set);
        }
        for (size_t position = 0; position < arms; position++) {
            size_t part = williams_part(arms, rows[block % set], position);
            order[block * arms + position] = parts[part];
        }
    }
}
