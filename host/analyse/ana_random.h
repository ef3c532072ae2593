/* Random numbers that a seed repeats on every machine: orders of runs, simulations, test data.
 * The generator is splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
 * generators", OOPSLA 2014). Not for secrets. */
#ifndef ANA_RANDOM_H
#define ANA_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state; /* any value is a good seed */
};

uint64_t random_next(struct random *random);
/* Uniform in 0 .. bound-1 without bias; bound must not be 0. */
uint64_t random_below(struct random *random, uint64_t bound);
/* Uniform in [0, 1). */
double random_unit(struct random *random);
/* Normal with mean 0 and standard deviation 1 (Marsaglia's polar method). */
double random_normal(struct random *random);
/* Fisher-Yates: every order of the numbers equally likely. */
void random_shuffle(struct random *random, size_t *numbers, size_t count);

#endif
