#include "lockstep_probe.h"

#include "base_json.h"
#include "cap_elf.h"
#include "lockstep_qemu.h"

/* Bytes that a limit lets pile up while there is nothing to read: a probe cannot make up later for
 * what it did not do, beyond the transfer that it is in. */
#define CARRIED_BYTES 1024u

/* Where the recorder's symbol says, if the firmware has one, else wherever a block is found. */
static struct memory_options options_of(const char *memory_path, const struct firmware_image *image)
{
    struct memory_options options = {
        .path = memory_path, .base_given = true, .base = BOARD_MEMORY_ADDRESS};
    struct error none = {0};
    if (!elf_find_blocks(image->path, &options, &none))
        options.address_count = 0;
    return options;
}

static void write_info(struct rig_probe *probe)
{
    struct buffer text = {0};
    struct json json = json_begin(&text, 0);
    json_put_object(&json, NULL);
    json_put_text(&json, "tool", "tare lockstep " TARE_VERSION);
    json_put_text(&json, "system", "emulated mps2-an385 in lock-step");
    json_put_text(&json, "clock", "the board's");
    json_put_unsigned(&json, "probe_bytes_per_second", probe->bytes_per_second);
    json_put_unsigned(&json, "probe_bytes_per_stop", probe->bytes_per_stop);
    json_end_object(&json);
    container_info(&probe->container, text.data);
    buffer_free(&text);
}

bool rig_probe_open(struct rig_probe *probe, const char *path, const char *memory_path,
                    const struct firmware_image *image, struct error *error)
{
    struct memory_options options = options_of(memory_path, image);
    if (!path)
        return true;
    probe->open = container_create(&probe->container, path, 1, error);
    if (!probe->open)
        return false;
    /* The moment of the board's start stands for 1970: a reader shows times from the first on. */
    probe->container.arrival_ns = 1;
    write_info(probe);
    return memory_open(&probe->reader, &options, &probe->container, error);
}

static uint64_t allowance(struct rig_probe *probe, uint64_t now_ns)
{
    uint64_t allowed = probe->bytes_per_stop ? probe->bytes_per_stop : UINT64_MAX;
    if (probe->bytes_per_second) {
        const uint64_t carried = (uint64_t)CARRIED_BYTES * NS_PER_SECOND;
        uint64_t elapsed_ns = probe->last_ns ? now_ns - probe->last_ns : 0;
        probe->credit = probe->credit > carried ? carried : probe->credit;
        probe->credit += elapsed_ns * probe->bytes_per_second;
        uint64_t bytes = probe->credit / NS_PER_SECOND;
        allowed = bytes < allowed ? bytes : allowed;
    }
    probe->last_ns = now_ns;
    return allowed;
}

static bool read_rings(struct rig_probe *probe, uint64_t limit, uint64_t now_ns,
                       struct error *error)
{
    probe->container.arrival_ns = now_ns;
    uint64_t got = memory_drain(&probe->reader, limit, now_ns);
    probe->bytes += got;
    probe->stops++;
    if (got > 0 && got + 4 > limit)
        probe->limited_stops++;
    if (probe->bytes_per_second)
        probe->credit -= got * NS_PER_SECOND;
    if (probe->reader.refusal.code != EXIT_DONE) {
        error_set(error, EXIT_CANNOT_TELL, "%s", probe->reader.refusal.text);
        return false;
    }
    if (probe->container.failure.code != EXIT_DONE) {
        *error = probe->container.failure;
        return false;
    }
    return true;
}

bool rig_probe_drain(struct rig_probe *probe, uint64_t now_ns, struct error *error)
{
    return !probe->open || read_rings(probe, allowance(probe, now_ns), now_ns, error);
}

bool rig_probe_finish(struct rig_probe *probe, uint64_t now_ns, struct error *error)
{
    struct buffer text = {0};
    if (!probe->open)
        return true;
    probe->bytes_per_second = 0;
    if (!read_rings(probe, UINT64_MAX, now_ns, error))
        return false;
    memory_end(&probe->reader);
    struct json json = json_begin(&text, 0);
    json_put_object(&json, NULL);
    json_put_unsigned(&json, "words", probe->reader.words);
    json_put_unsigned(&json, "highest_fill_bytes", probe->reader.highest_fill);
    json_put_unsigned(&json, "polls", probe->stops);
    json_end_object(&json);
    container_end(&probe->container, text.data);
    buffer_free(&text);
    probe->highest_fill = probe->reader.highest_fill;
    probe->ring_bytes = probe->reader.highest_bytes;
    probe->restarts = probe->reader.restarts;
    probe->words_missed = probe->reader.words_missed;
    memory_close(&probe->reader);
    probe->open = false;
    return container_close(&probe->container, error);
}

void rig_probe_close(struct rig_probe *probe)
{
    struct error ignored = {0};
    if (!probe->open)
        return;
    memory_close(&probe->reader);
    container_close(&probe->container, &ignored);
    probe->open = false;
}
