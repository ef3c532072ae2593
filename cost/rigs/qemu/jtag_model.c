/* A debug port without a probe: one JTAG TAP with an ARM JTAG-DP (ADIv5) and one MEM-AP, whose bus
 * is a mapped file, behind OpenOCD's remote_bitbang protocol. With QEMU's memory-backend-file
 * OpenOCD reads an emulated board as it reads a real one, while its processor runs.
 *
 *     jtag_model [-a ADDRESS] [-v] MEMORY PORT
 *
 * ADDRESS (default 0x21000000) is where the first byte of the file MEMORY is on the bus. The server
 * listens on 127.0.0.1, on any free port for PORT 0, and says "port N" on standard output. It
 * serves one connection after the other until SIGTERM or SIGINT. -v: each write to memory on
 * standard error, as "W32 ADDRESS VALUE". An access outside of the file is a bus fault.
 *
 * OpenOCD must end before this program does: it aborts when the link goes away.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ bus */

struct bus {
    unsigned char *bytes;
    uint32_t address, size;
    bool tell_writes;
};

static bool bus_has(const struct bus *bus, uint32_t address, uint32_t bytes)
{
    return address >= bus->address && address - bus->address <= bus->size - bytes &&
           address % bytes == 0;
}

/* One access of 1, 2 or 4 bytes, whole: the processor on the other side sees none halfway. */
static bool bus_read(const struct bus *bus, uint32_t address, uint32_t bytes, uint32_t *value)
{
    const void *at;

    if (!bus_has(bus, address, bytes))
        return false;
    at = bus->bytes + (address - bus->address);
    if (bytes == 4)
        *value = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
    else if (bytes == 2)
        *value = __atomic_load_n((const uint16_t *)at, __ATOMIC_ACQUIRE);
    else
        *value = __atomic_load_n((const uint8_t *)at, __ATOMIC_ACQUIRE);
    return true;
}

static bool bus_write(const struct bus *bus, uint32_t address, uint32_t bytes, uint32_t value)
{
    void *at;

    if (!bus_has(bus, address, bytes))
        return false;
    at = bus->bytes + (address - bus->address);
    if (bus->tell_writes)
        fprintf(stderr, "W%" PRIu32 " %08" PRIx32 " %08" PRIx32 "\n", 8 * bytes, address, value);
    if (bytes == 4)
        __atomic_store_n((uint32_t *)at, value, __ATOMIC_RELEASE);
    else if (bytes == 2)
        __atomic_store_n((uint16_t *)at, (uint16_t)value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint8_t *)at, (uint8_t)value, __ATOMIC_RELEASE);
    return true;
}

/* ------------------------------------------------------------------ MEM-AP */

enum {
    AP_CSW = 0x00, /* [5:4] increment: 0 none, 1 single, 2 packed; [2:0] log2 of the bytes */
    AP_TAR = 0x04,
    AP_DRW = 0x0C,
    AP_BD0 = 0x10, /* to BD3 = 0x1C: the four words around TAR */
    AP_BD3 = 0x1C,
    AP_CFG = 0xF4,
    AP_BASE = 0xF8,
    AP_IDR = 0xFC
};

#define CSW_KEPT 0xFF00003Fu
#define CSW_ENABLED 0x40u
#define CSW_PACKED 2u
#define TAR_INCREMENTS 0x3FFu /* bits that count; OpenOCD sets the address anew behind them */
#define NO_ROM_TABLE 0xFFFFFFFFu
#define IDR_AHB_AP 0x24770011u

struct memory_port {
    struct bus bus;
    uint32_t csw, address;
};

static void step_address(struct memory_port *port, uint32_t bytes)
{
    if ((port->csw >> 4 & 3u) != 0)
        port->address =
            (port->address & ~TAR_INCREMENTS) | ((port->address + bytes) & TAR_INCREMENTS);
}

/* DRW: byte lanes as on the bus; a packed transfer moves all four bytes in smaller steps. False:
 * bus fault. */
static bool transfer(struct memory_port *port, bool read, uint32_t *data)
{
    uint32_t log = port->csw & 7u, bytes = 1u << (log < 2 ? log : 2);
    uint32_t steps = (port->csw >> 4 & 3u) == CSW_PACKED ? 4 / bytes : 1;
    uint32_t result = 0;

    for (; steps > 0; steps--) {
        uint32_t lane = 8 * (port->address & 3u), mask = bytes == 4 ? ~0u : (1u << 8 * bytes) - 1;
        uint32_t value = bytes == 4 ? *data : *data >> lane & mask;

        if (read ? !bus_read(&port->bus, port->address, bytes, &value)
                 : !bus_write(&port->bus, port->address, bytes, value))
            return false;
        result |= bytes == 4 ? value : value << lane;
        step_address(port, bytes);
    }
    if (read)
        *data = result;
    return true;
}

static bool memory_port_access(struct memory_port *port, uint32_t where, bool read, uint32_t *data)
{
    uint32_t word = (port->address & ~15u) | (where & 12u);

    if (where == AP_DRW)
        return transfer(port, read, data);
    if (where >= AP_BD0 && where <= AP_BD3)
        return read ? bus_read(&port->bus, word, 4, data) : bus_write(&port->bus, word, 4, *data);
    if (where == AP_CSW && !read)
        port->csw = *data & CSW_KEPT;
    else if (where == AP_TAR && !read)
        port->address = *data;
    else if (read)
        *data = where == AP_CSW    ? port->csw | CSW_ENABLED
                : where == AP_TAR  ? port->address
                : where == AP_BASE ? NO_ROM_TABLE
                : where == AP_IDR  ? IDR_AHB_AP
                                   : 0;
    return true;
}

/* ------------------------------------------------------------------ JTAG-DP */

enum {
    DP_ID = 0x0,
    DP_CONTROL = 0x4,
    DP_SELECT = 0x8,
    DP_RESULT = 0xC
};

#define CONTROL_STICKY_OVERRUN (1u << 1)
#define CONTROL_STICKY_ERROR (1u << 5)
#define CONTROL_STICKY 0xB2u     /* with compare and write error; one clears them */
#define CONTROL_KEPT 0x54FFFC0Du /* requests, counters, modes */
#define CONTROL_REQUESTS 0x54000000u
#define DP_DESIGN 0x2BA01477u

struct debug_port {
    struct memory_port memory;
    uint32_t control, select;
    uint32_t posted; /* result of the last access; the next scan carries it out */
};

static void port_access(struct debug_port *port, uint32_t where, bool read, uint32_t data)
{
    bool faulty = (port->control & (CONTROL_STICKY_ERROR | CONTROL_STICKY_OVERRUN)) != 0;

    port->posted = 0;
    if (faulty || port->select >> 24 != 0) /* given up after a fault; no such port */
        return;
    if (!memory_port_access(&port->memory, (port->select & 0xF0u) | where, read, &data))
        port->control |= CONTROL_STICKY_ERROR;
    else if (read)
        port->posted = data;
}

static void debug_access(struct debug_port *port, uint32_t where, bool read, uint32_t data)
{
    uint32_t result = 0;

    if (where == DP_ID)
        result = DP_DESIGN;
    else if (where == DP_CONTROL && !read)
        port->control = (port->control & CONTROL_STICKY & ~data) | (data & CONTROL_KEPT);
    else if (where == DP_CONTROL) /* each request is granted by the bit above it */
        result = port->control | (port->control & CONTROL_REQUESTS) << 1;
    else if (where == DP_SELECT && !read)
        port->select = data;
    else if (where == DP_SELECT)
        result = port->select;
    port->posted = read ? result : 0;
}

/* ------------------------------------------------------------------ TAP */

enum tap_state {
    TEST_LOGIC_RESET,
    RUN_TEST_IDLE,
    SELECT_DR,
    CAPTURE_DR,
    SHIFT_DR,
    EXIT1_DR,
    PAUSE_DR,
    EXIT2_DR,
    UPDATE_DR,
    SELECT_IR,
    CAPTURE_IR,
    SHIFT_IR,
    EXIT1_IR,
    PAUSE_IR,
    EXIT2_IR,
    UPDATE_IR
};

/* Next state for TMS 0 and 1. */
static const unsigned char tap_next[16][2] = {
    [TEST_LOGIC_RESET] = {RUN_TEST_IDLE, TEST_LOGIC_RESET},
    [RUN_TEST_IDLE] = {RUN_TEST_IDLE, SELECT_DR},
    [SELECT_DR] = {CAPTURE_DR, SELECT_IR},
    [CAPTURE_DR] = {SHIFT_DR, EXIT1_DR},
    [SHIFT_DR] = {SHIFT_DR, EXIT1_DR},
    [EXIT1_DR] = {PAUSE_DR, UPDATE_DR},
    [PAUSE_DR] = {PAUSE_DR, EXIT2_DR},
    [EXIT2_DR] = {SHIFT_DR, UPDATE_DR},
    [UPDATE_DR] = {RUN_TEST_IDLE, SELECT_DR},
    [SELECT_IR] = {CAPTURE_IR, TEST_LOGIC_RESET},
    [CAPTURE_IR] = {SHIFT_IR, EXIT1_IR},
    [SHIFT_IR] = {SHIFT_IR, EXIT1_IR},
    [EXIT1_IR] = {PAUSE_IR, UPDATE_IR},
    [PAUSE_IR] = {PAUSE_IR, EXIT2_IR},
    [EXIT2_IR] = {SHIFT_IR, UPDATE_IR},
    [UPDATE_IR] = {RUN_TEST_IDLE, SELECT_DR}};

enum {
    IR_ABORT = 0x8,
    IR_DEBUG = 0xA,
    IR_PORT = 0xB,
    IR_IDCODE = 0xE,
    IR_BITS = 4
};

#define IDCODE 0x4BA00477u
#define ACK_DONE 2u
#define SCAN_BITS 35 /* of an access: [34:3] data, [2:1] address bits 3 and 2, [0] read */

struct tap {
    struct debug_port port;
    unsigned state, instruction, bits; /* bits: of the data register */
    uint64_t shift;
    bool clock;
};

static void capture_data(struct tap *tap)
{
    bool access = tap->instruction == IR_DEBUG || tap->instruction == IR_PORT;

    tap->bits = access || tap->instruction == IR_ABORT ? SCAN_BITS
                : tap->instruction == IR_IDCODE        ? 32
                                                       : 1;
    tap->shift = access                          ? (uint64_t)tap->port.posted << 3 | ACK_DONE
                 : tap->instruction == IR_IDCODE ? IDCODE
                 : tap->instruction == IR_ABORT  ? ACK_DONE
                                                 : 0;
}

static void update_data(struct tap *tap)
{
    uint32_t where = (uint32_t)(tap->shift << 1) & 12u, data = (uint32_t)(tap->shift >> 3);
    bool read = (tap->shift & 1u) != 0;

    if (tap->instruction == IR_DEBUG)
        debug_access(&tap->port, where, read, data);
    else if (tap->instruction == IR_PORT)
        port_access(&tap->port, where, read, data);
}

static void tap_reset(struct tap *tap)
{
    tap->state = TEST_LOGIC_RESET;
    tap->instruction = IR_IDCODE;
}

static void rising_edge(struct tap *tap, unsigned mode, uint64_t data)
{
    if (tap->state == SHIFT_DR)
        tap->shift = tap->shift >> 1 | data << (tap->bits - 1);
    else if (tap->state == SHIFT_IR)
        tap->shift = tap->shift >> 1 | data << (IR_BITS - 1);
    else if (tap->state == CAPTURE_DR)
        capture_data(tap);
    else if (tap->state == CAPTURE_IR)
        tap->shift = 1; /* as the standard wants it */
    tap->state = tap_next[tap->state][mode];
    if (tap->state == TEST_LOGIC_RESET)
        tap->instruction = IR_IDCODE;
    else if (tap->state == UPDATE_IR)
        tap->instruction = (unsigned)(tap->shift & 15u);
    else if (tap->state == UPDATE_DR)
        update_data(tap);
}

/* ------------------------------------------------------------------ remote_bitbang */

static volatile sig_atomic_t stopped;

static void note_stop(int number)
{
    stopped = number;
}

/* One character of the protocol; true with the answer where one is wanted. */
static bool take_character(struct tap *tap, char character, char *answer)
{
    if (character >= '0' && character <= '7') {
        unsigned pins = (unsigned)(character - '0'); /* tck << 2 | tms << 1 | tdi */

        if ((pins & 4u) != 0 && !tap->clock)
            rising_edge(tap, pins >> 1 & 1u, pins & 1u);
        tap->clock = (pins & 4u) != 0;
    } else if (character == 't' || character == 'u') { /* 'r' + trst << 1 + srst */
        tap_reset(tap);
    } else if (character == 'R') {
        *answer =
            (tap->state == SHIFT_DR || tap->state == SHIFT_IR) && (tap->shift & 1u) ? '1' : '0';
        return true;
    }
    return false;
}

/* All that came is answered at once: OpenOCD waits for the samples of one scan at a time. */
static void serve(int connection, struct tap *tap)
{
    static char input[1 << 16], output[1 << 16];
    ssize_t got;

    while (stopped == 0 && (got = recv(connection, input, sizeof(input), 0)) != 0) {
        size_t count = 0;

        if (got < 0 && errno != EINTR)
            return;
        for (ssize_t i = 0; i < got; i++) {
            if (input[i] == 'Q')
                return;
            count += take_character(tap, input[i], output + count);
        }
        for (size_t sent = 0; sent < count;) {
            ssize_t part = send(connection, output + sent, count - sent, MSG_NOSIGNAL);

            if (part < 0)
                return;
            sent += (size_t)part;
        }
    }
}

static int listen_on(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    if (listener < 0)
        return -1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        close(listener);
        return -1;
    }
    printf("port %u\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static bool map_memory(struct bus *bus, const char *path)
{
    struct stat status;
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *bytes = MAP_FAILED;

    if (file >= 0 && fstat(file, &status) == 0 && status.st_size >= 4 &&
        status.st_size <= INT32_MAX) {
        bus->size = (uint32_t)status.st_size;
        bytes = mmap(NULL, bus->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (file >= 0)
        close(file);
    bus->bytes = bytes;
    return bytes != MAP_FAILED;
}

static int usage(void)
{
    fprintf(stderr, "usage: jtag_model [-a ADDRESS] [-v] MEMORY PORT\n");
    return 2;
}

int main(int argc, char **argv)
{
    static struct tap tap = {.port.memory.bus.address = 0x21000000};
    const struct sigaction stop = {.sa_handler = note_stop};
    struct bus *bus = &tap.port.memory.bus;
    int option, listener, connection, on = 1;

    while ((option = getopt(argc, argv, "a:v")) != -1) {
        if (option == 'a')
            bus->address = (uint32_t)strtoul(optarg, NULL, 0);
        else if (option == 'v')
            bus->tell_writes = true;
        else
            return usage();
    }
    if (argc - optind != 2)
        return usage();
    if (!map_memory(bus, argv[optind])) {
        fprintf(stderr,
                "jtag_model: %s: cannot be mapped: %s; the memory's file must be there "
                "before this program starts\n",
                argv[optind], strerror(errno));
        return 2;
    }
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    tap_reset(&tap);
    listener = listen_on((uint16_t)strtoul(argv[optind + 1], NULL, 0));
    if (listener < 0) {
        fprintf(stderr, "jtag_model: port %s: %s\n", argv[optind + 1], strerror(errno));
        return 2;
    }
    while (stopped == 0 && (connection = accept(listener, NULL, NULL)) >= 0) {
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        serve(connection, &tap);
        close(connection);
    }
    return 0;
}
