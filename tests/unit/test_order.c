/* Balance, counted: every arm at every position, every arm behind every other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ana_order.h"

enum {
    SETS = 3,
    ROWS = SETS * 2 * ORDER_ARMS_MAXIMUM
};

static size_t order[ROWS * ORDER_ARMS_MAXIMUM];
static size_t again[ROWS * ORDER_ARMS_MAXIMUM];

static void complete_sets_are_balanced(void **state)
{
    (void)state;
    for (size_t arms = 1; arms <= ORDER_ARMS_MAXIMUM; arms++) {
        size_t blocks = SETS * order_set_size(arms);
        order_draw(arms * 77, arms, blocks, order);
        size_t at[ORDER_ARMS_MAXIMUM][ORDER_ARMS_MAXIMUM] = {{0}};
        size_t behind[ORDER_ARMS_MAXIMUM][ORDER_ARMS_MAXIMUM] = {{0}};
        for (size_t block = 0; block < blocks; block++) {
            for (size_t position = 0; position < arms; position++) {
                size_t arm = order[block * arms + position];
                assert_true(arm < arms);
                at[arm][position]++;
                if (position > 0) {
                    behind[arm][order[block * arms + position - 1]]++;
                }
            }
        }
        for (size_t arm = 0; arm < arms; arm++) {
            for (size_t other = 0; other < arms; other++) {
                assert_int_equal(at[arm][other], blocks / arms);
                assert_int_equal(behind[arm][other], arm == other ? 0 : blocks / arms);
            }
        }
    }
}

static void three_arms_use_all_six_orders(void **state)
{
    (void)state;
    order_draw(5, 3, 6, order);
    int seen[27] = {0};
    for (size_t block = 0; block < 6; block++) {
        seen[order[block * 3] * 9 + order[block * 3 + 1] * 3 + order[block * 3 + 2]]++;
    }
    int orders = 0;
    for (int i = 0; i < 27; i++) {
        assert_true(seen[i] <= 1);
        orders += seen[i];
    }
    assert_int_equal(orders, 6);
}

static void seed_decides(void **state)
{
    (void)state;
    order_draw(1, 4, 8, order);
    order_draw(1, 4, 8, again);
    assert_memory_equal(order, again, 32 * sizeof *order);
    order_draw(2, 4, 8, again);
    assert_memory_not_equal(order, again, 32 * sizeof *order);
    /* Known answer: the same on every machine. */
    const size_t first[] = {0, 3, 2, 1};
    assert_memory_equal(order, first, sizeof first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_sets_are_balanced),
        cmocka_unit_test(three_arms_use_all_six_orders),
        cmocka_unit_test(seed_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
