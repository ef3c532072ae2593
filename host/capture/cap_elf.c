#include "cap_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_buffer.h"

struct elf_file {
    int file;
    uint64_t size;
    Elf *elf;
};

static void elf_close(struct elf_file *file)
{
    if (file->elf != NULL)
        elf_end(file->elf);
    if (file->file >= 0)
        close(file->file);
}

static bool elf_open(struct elf_file *file, const char *path, struct error *error)
{
    struct stat status;

    *file = (struct elf_file){.file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)};
    if (file->file < 0 || fstat(file->file, &status) != 0) {
        error_set(error, EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
        elf_close(file);
        return false;
    }
    file->size = (uint64_t)status.st_size;
    elf_version(EV_CURRENT);
    file->elf = elf_begin(file->file, ELF_C_READ, NULL);
    if (file->elf == NULL || elf_kind(file->elf) != ELF_K_ELF) {
        error_set(error, EXIT_USAGE, "%s: is no ELF file; give the file that the linker wrote",
                  path);
        elf_close(file);
        return false;
    }
    return true;
}

bool elf_is_one(const char *path)
{
    unsigned char begin[SELFMAG] = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    bool is = file >= 0 && pread(file, begin, sizeof(begin), 0) == (ssize_t)sizeof(begin) &&
              memcmp(begin, ELFMAG, SELFMAG) == 0;

    if (file >= 0)
        close(file);
    return is;
}

/* Link-time optimisation adds a suffix to the names of static objects. */
static bool name_is(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);

    return strncmp(name, wanted, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static bool find_symbol(Elf *elf, const char *wanted, GElf_Sym *found)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        Elf_Data *data;
        size_t count;

        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_SYMTAB ||
            header.sh_entsize == 0 || (data = elf_getdata(section, NULL)) == NULL)
            continue;
        count = data->d_size / header.sh_entsize;
        for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
            const char *name = gelf_getsym(data, (int)i, found) != NULL
                                   ? elf_strptr(elf, header.sh_link, found->st_name)
                                   : NULL;

            if (name != NULL && GELF_ST_TYPE(found->st_info) == STT_OBJECT && name_is(name, wanted))
                return true;
        }
    }
    return false;
}

bool elf_find_blocks(const char *path, struct memory_options *options, struct error *error)
{
    struct elf_file file;
    GElf_Sym symbol;
    bool found;

    if (!elf_open(&file, path, error))
        return false;
    found =
        find_symbol(file.elf, "tare0", &symbol) || find_symbol(file.elf, "_SEGGER_RTT", &symbol);
    elf_close(&file);
    if (!found || symbol.st_value > UINT32_MAX) {
        error_set(error, EXIT_USAGE,
                  "%s: has no symbol tare0 or _SEGGER_RTT; is the recorder in it, and are the "
                  "symbols not stripped?",
                  path);
        return false;
    }
    options->addresses[0] = (uint32_t)symbol.st_value;
    options->sizes[0] = symbol.st_size > UINT32_MAX ? UINT32_MAX : (uint32_t)symbol.st_size;
    options->address_count = 1;
    return true;
}

bool elf_segments(const char *path, struct memory_segment **segments, size_t *count,
                  struct error *error)
{
    struct elf_file file;
    size_t headers = 0;

    *segments = NULL;
    *count = 0;
    if (!elf_open(&file, path, error))
        return false;
    if (elf_getphdrnum(file.elf, &headers) != 0)
        headers = 0;
    for (size_t i = 0; i < headers && i <= INT32_MAX; i++) {
        struct memory_segment segment;
        GElf_Phdr header;

        if (gelf_getphdr(file.elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
            header.p_offset >= file.size || header.p_filesz == 0)
            continue;
        /* Emulators write none but physical addresses where the processor maps none. */
        segment.address = header.p_vaddr == 0 ? header.p_paddr : header.p_vaddr;
        segment.position = header.p_offset;
        segment.bytes = header.p_filesz < file.size - header.p_offset ? header.p_filesz
                                                                      : file.size - header.p_offset;
        *segments = memory_resize(*segments, *count + 1, sizeof(segment));
        (*segments)[(*count)++] = segment;
    }
    elf_close(&file);
    if (*count == 0)
        error_set(error, EXIT_DAMAGED, "%s: holds no memory (no PT_LOAD segment lies in the file)",
                  path);
    return *count > 0;
}
