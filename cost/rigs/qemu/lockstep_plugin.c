/* A plugin for QEMU's TCG that lets a harness outside stop the emulated board at one instruction.
 *
 *     -plugin lockstep_plugin.so,socket=PATH,stop=ADDRESS[,range0=LOW-HIGH]...[,range7=LOW-HIGH]
 *
 * Before the instruction at ADDRESS runs, the counts go to the harness that listens at PATH, and
 * the board's processor waits for its answer. It holds no lock then and does not count as halted,
 * so its clock stands still while QEMU's main loop goes on delivering frames to the board's network
 * controller. What the harness does at a stop therefore happens at one exact instruction.
 *
 * A range counts the instructions of LOW up to, not including, HIGH, and those at LOW as entries;
 * ranges of the same number add up. Counting is done in the translated code and costs the board
 * nothing.
 *
 * The interface of plugins is declared here by hand, for no Debian package has its header: version
 * 1, of QEMU 7.2 (Debian 12). Later versions changed it; they refuse this plugin, and it refuses
 * them.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lockstep_wire.h"

#define QEMU_PLUGIN_API 1
#define EXPORTED __attribute__((visibility("default")))
#define RANGE_LIMIT 256

/* ------------------------------------------------------------------ QEMU 7.2, plugin API 1 */

struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct plugin_info {
    const char *target_name;
    struct {
        int minimum, current;
    } version;
    bool system_emulation;
    struct {
        int smp_vcpus, max_vcpus;
    } system;
};

enum plugin_operation {
    PLUGIN_ADD_U64
};
enum plugin_registers {
    PLUGIN_NO_REGISTERS
};

typedef void translate_function(uint64_t id, struct qemu_plugin_tb *block);
typedef void execute_function(unsigned int processor, void *data);
typedef void exit_function(uint64_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translate_function *call);
void qemu_plugin_register_atexit_cb(uint64_t id, exit_function *call, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *instruction,
                                                enum plugin_operation operation, void *counter,
                                                uint64_t value);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
                                            execute_function *call, enum plugin_registers registers,
                                            void *data);

EXPORTED extern int qemu_plugin_version;
int qemu_plugin_version = QEMU_PLUGIN_API;
EXPORTED int qemu_plugin_install(uint64_t id, const struct plugin_info *info, int argc,
                                 char **argv);

/* ------------------------------------------------------------------ */

struct range {
    unsigned group;
    uint64_t low, high;
};

static uint64_t stop_address;
static int harness = -1;
static struct range ranges[RANGE_LIMIT];
static size_t range_count;
static struct lockstep_message counts;

/* The harness has gone: there is nobody to run for, and it has said why. */
static void leave(void)
{
    _exit(EXIT_FAILURE);
}

static void send_counts(enum lockstep_kind kind)
{
    struct lockstep_message message = counts;
    message.kind = kind;
    if (send(harness, &message, sizeof message, MSG_NOSIGNAL) != (ssize_t)sizeof message &&
        kind == LOCKSTEP_STOP)
        leave();
}

static void stop(unsigned int processor, void *data)
{
    char answer;
    (void)processor;
    (void)data;
    send_counts(LOCKSTEP_STOP);
    ssize_t got;
    do
        got = recv(harness, &answer, 1, 0);
    while (got < 0 && errno == EINTR);
    if (got != 1)
        leave();
}

static void count(struct qemu_plugin_insn *instruction, uint64_t *counter)
{
    qemu_plugin_register_vcpu_insn_exec_inline(instruction, PLUGIN_ADD_U64, counter, 1);
}

static void translate(uint64_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        uint64_t address = qemu_plugin_insn_vaddr(instruction);
        if (address == stop_address)
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, stop, PLUGIN_NO_REGISTERS, NULL);
        count(instruction, &counts.instructions);
        for (size_t k = 0; k < range_count; k++) {
            const struct range *range = &ranges[k];
            if (address >= range->low && address < range->high)
                count(instruction, &counts.range_instructions[range->group]);
            if (address == range->low)
                count(instruction, &counts.range_entries[range->group]);
        }
    }
}

static void report_end(uint64_t id, void *data)
{
    (void)id;
    (void)data;
    send_counts(LOCKSTEP_END);
}

/* rangeN=LOW-HIGH, in hexadecimal */
static bool take_range(const char *text)
{
    char *end = NULL;
    if (strncmp(text, "range", 5) != 0 || range_count == RANGE_LIMIT)
        return false;
    unsigned long group = strtoul(text + 5, &end, 10);
    if (end == text + 5 || *end != '=' || group >= LOCKSTEP_RANGES)
        return false;
    uint64_t low = strtoull(end + 1, &end, 16);
    if (*end != '-')
        return false;
    uint64_t high = strtoull(end + 1, &end, 16);
    if (*end != 0 || low >= high)
        return false;
    ranges[range_count++] = (struct range){(unsigned)group, low, high};
    return true;
}

static int refuse(const char *what)
{
    fprintf(stderr, "lockstep_plugin: %s\n", what);
    return -1;
}

int qemu_plugin_install(uint64_t id, const struct plugin_info *info, int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (info->version.current != QEMU_PLUGIN_API)
        return refuse(
            "this QEMU's interface of plugins is not version 1: use QEMU 7.2 (Debian 12)");
    for (int i = 0; i < argc; i++) {
        size_t length = strlen(argv[i]);
        if (strncmp(argv[i], "socket=", 7) == 0 && length - 7 < sizeof address.sun_path) {
            memcpy(address.sun_path, argv[i] + 7, length - 7 + 1);
        } else if (strncmp(argv[i], "stop=", 5) == 0) {
            stop_address = strtoull(argv[i] + 5, NULL, 0);
        } else if (!take_range(argv[i])) {
            fprintf(stderr,
                    "lockstep_plugin: cannot use '%s': socket=PATH, stop=ADDRESS and at most %d "
                    "rangeN=LOW-HIGH, N below %d, are known\n",
                    argv[i], RANGE_LIMIT, LOCKSTEP_RANGES);
            return -1;
        }
    }
    if (stop_address == 0 || address.sun_path[0] == 0)
        return refuse("socket=PATH and stop=ADDRESS are needed");
    harness = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (harness < 0 || connect(harness, (struct sockaddr *)&address, sizeof address) != 0) {
        fprintf(stderr, "lockstep_plugin: nobody listens at %s: %s\n", address.sun_path,
                strerror(errno));
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
    qemu_plugin_register_atexit_cb(id, report_end, NULL);
    return 0;
}
