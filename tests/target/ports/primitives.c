/* Uses each primitive of a port, to be compiled in every dialect; never run. */
#include <stdint.h>

#include TARE_PORT_FILE

int use_all(volatile uint32_t *offset);

int use_all(volatile uint32_t *offset)
{
    uint32_t state = tare_port_mask();
    tare_clock now = tare_port_clock();

    tare_port_publish(offset, (uint32_t)now + tare_port_core() + TARE_CORES + TARE_PORT_TARGET);
    tare_port_unmask(state);
    return tare_port_memory_is_seen((const void *)offset, sizeof(*offset));
}
