#include "ana_random.h"

#include <math.h>

uint64_t random_next(struct random *random)
{
    random->state += 0x9E3779B97F4A7C15u;
    uint64_t mixed = random->state;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

uint64_t random_below(struct random *random, uint64_t bound)
{
    /* Numbers below 2^64 mod bound would make small results more likely; they are drawn again. */
    uint64_t uneven = (0 - bound) % bound;
    uint64_t drawn;
    do {
        drawn = random_next(random);
    } while (drawn < uneven);
    return drawn % bound;
}

double random_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1p-53;
}

double random_normal(struct random *random)
{
    double x, square;
    do {
        x = 2 * random_unit(random) - 1;
        double y = 2 * random_unit(random) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square <= 0);
    return x * sqrt(-2 * log(square) / square);
}

void random_shuffle(struct random *random, size_t *numbers, size_t count)
{
    for (size_t left = count; left > 1; left--) {
        size_t other = random_below(random, left);
        size_t kept = numbers[left - 1];
        numbers[left - 1] = numbers[other];
        numbers[other] = kept;
    }
}
