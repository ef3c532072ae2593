#include "lockstep_qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_progress.h"

#define ARGUMENT_LIMIT 64
#define SHOWN_BYTES 400 /* of the board's and of QEMU's last words */

volatile int board_interrupted;

static void note_signal(int number)
{
    (void)number;
    board_interrupted = 1;
}

void board_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

void board_argument(struct emulated_board *board, const char *format, ...)
{
    char text[4096];
    va_list list;
    va_start(list, format);
    int size = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (board->argument_count + 1 >= ARGUMENT_LIMIT || size < 0 || (size_t)size >= sizeof text)
        die("too many arguments for QEMU, or one too long");
    board->arguments[board->argument_count++] = memory_text(text);
}

char *board_file(const struct emulated_board *board, const char *name)
{
    struct buffer path = {0};
    buffer_printf(&path, "%s/%s", board->folder, name);
    return path.data;
}

/* An old file would show the reader what an earlier run left in it. */
static bool make_memory(struct emulated_board *board, struct error *error)
{
    unlink(board->memory_path);
    int file = open(board->memory_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    board->memory = MAP_FAILED;
    if (file >= 0 && ftruncate(file, BOARD_MEMORY_BYTES) == 0)
        board->memory = mmap(NULL, BOARD_MEMORY_BYTES, PROT_READ, MAP_SHARED, file, 0);
    if (board->memory == MAP_FAILED) {
        error_set(error, EXIT_USAGE, "cannot make the board's memory '%s': %s", board->memory_path,
                  strerror(errno));
        board->memory = NULL;
    }
    if (file >= 0)
        close(file);
    return board->memory != NULL;
}

const volatile uint32_t *board_word(const struct emulated_board *board, uint32_t address)
{
    uint32_t at = address - BOARD_MEMORY_ADDRESS;
    if (address < BOARD_MEMORY_ADDRESS || at >= BOARD_MEMORY_BYTES || at % 4 != 0)
        return NULL;
    return (const volatile uint32_t *)board->memory + at / 4;
}

bool board_prepare(struct emulated_board *board, const char *memory, struct error *error)
{
    *board = (struct emulated_board){.log = -1, .qemu = CHILD_NONE};
    board->arguments = memory_new(ARGUMENT_LIMIT, sizeof board->arguments[0]);
    /* In memory where that is possible, and short enough for the name of a socket. */
    snprintf(board->folder, sizeof board->folder, "%s/tare-board-%d-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
    if (!mkdtemp(board->folder)) {
        error_set(error, EXIT_USAGE, "cannot make a folder '%s': %s", board->folder,
                  strerror(errno));
        board->folder[0] = 0;
        return false;
    }
    board->memory_is_ours = memory == NULL;
    board->memory_path = memory ? memory_text(memory) : board_file(board, "memory");
    if (!make_memory(board, error))
        return false;
    const char *const common[] = {"qemu-system-arm", "-machine", "mps2-an385,memory-backend=ram"};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        board_argument(board, "%s", common[i]);
    board_argument(board, "-object");
    board_argument(board, "memory-backend-file,id=ram,size=16M,mem-path=%s,share=on",
                   board->memory_path);
    const char *const rest[] = {"-display",
                                "none",
                                "-monitor",
                                "none",
                                "-serial",
                                "stdio",
                                "-semihosting-config",
                                "enable=on,target=native"};
    for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
        board_argument(board, "%s", rest[i]);
    return true;
}

bool board_start(struct emulated_board *board, const struct firmware_image *image,
                 struct error *error)
{
    char *firmware = board_file(board, "firmware.elf");
    char *log = board_file(board, "log");
    bool good = file_write(firmware, image->bytes.data, image->bytes.size, error);
    board_argument(board, "-kernel");
    board_argument(board, "%s", firmware);
    board->log = open(log, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    good = good && child_start(&board->qemu, board->arguments, board->log, error);
    free(firmware);
    free(log);
    return good;
}

static void append_tail(struct buffer *text, const char *whose, const char *bytes, size_t size)
{
    if (size == 0)
        return;
    size_t shown = size > SHOWN_BYTES ? SHOWN_BYTES : size;
    buffer_printf(text, "; %s: %.*s", whose, (int)shown, bytes + size - shown);
    while (text->size > 0 && text->data[text->size - 1] == '\n')
        text->data[--text->size] = 0;
}

void board_explain(struct emulated_board *board, const char *what, struct error *error)
{
    struct buffer text = {0};
    char bytes[SHOWN_BYTES], status[60];
    buffer_text(&text, what);
    /* It may be on its way to its end, and its last words tell why. */
    if (board->qemu.pid > 0)
        child_wait_for_end(&board->qemu, monotonic_ns() + NS_PER_SECOND / 2);
    while (board->qemu.pid == 0 && board->qemu.output >= 0 && child_read(&board->qemu, error)) {
    }
    if (board->qemu.name && board->qemu.pid == 0) {
        child_describe_status(&board->qemu, status, sizeof status);
        buffer_printf(&text, "; %s %s", board->qemu.name, status);
    }
    append_tail(&text, "the board's last words", board->qemu.text.data, board->qemu.text.size);
    off_t size = board->log >= 0 ? lseek(board->log, 0, SEEK_END) : 0;
    off_t from = size > SHOWN_BYTES ? size - SHOWN_BYTES : 0;
    ssize_t got = size > 0 ? pread(board->log, bytes, sizeof bytes, from) : 0;
    append_tail(&text, "QEMU's", bytes, got > 0 ? (size_t)got : 0);
    error_set(error, EXIT_CANNOT_TELL, "%s", text.data);
    buffer_free(&text);
}

bool board_finish(struct emulated_board *board, uint64_t until_ns, struct error *error)
{
    while (board->qemu.output >= 0) {
        if (!child_wait_for_output(&board->qemu, 1, until_ns, "the firmware did not end", error))
            return false;
    }
    if (child_wait_for_end(&board->qemu, until_ns) && board->qemu.status == 0)
        return true;
    board_explain(board, "the firmware did not end as it should", error);
    return false;
}

void board_close(struct emulated_board *board)
{
    static const char *const files[] = {"firmware.elf", "log", "memory", "network", "host", "stop"};
    child_close(&board->qemu);
    if (board->log >= 0)
        close(board->log);
    if (board->memory)
        munmap(board->memory, BOARD_MEMORY_BYTES);
    for (size_t i = 0; i < sizeof files / sizeof files[0] && board->folder[0]; i++) {
        char *path = board_file(board, files[i]);
        unlink(path);
        free(path);
    }
    if (board->folder[0])
        rmdir(board->folder);
    for (unsigned i = 0; i < board->argument_count; i++)
        free(board->arguments[i]);
    free(board->arguments);
    free(board->memory_path);
    *board = (struct emulated_board){.log = -1, .qemu = CHILD_NONE};
}
