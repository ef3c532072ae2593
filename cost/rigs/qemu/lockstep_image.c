#include "lockstep_image.h"

#include <fnmatch.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

bool firmware_open(struct firmware_image *image, const char *path, struct error *error)
{
    GElf_Ehdr header;
    *image = (struct firmware_image){.path = path};
    if (!file_read(path, &image->bytes, error))
        return false;
    elf_version(EV_CURRENT);
    image->elf = elf_memory(image->bytes.data, image->bytes.size);
    if (!image->elf || gelf_getclass(image->elf) != ELFCLASS32 ||
        !gelf_getehdr(image->elf, &header) || header.e_machine != EM_ARM) {
        error_set(error, EXIT_USAGE, "%s: this is no 32-bit ELF file for ARM: give the firmware",
                  path);
        firmware_close(image);
        return false;
    }
    return true;
}

void firmware_close(struct firmware_image *image)
{
    if (image->elf)
        elf_end(image->elf);
    buffer_free(&image->bytes);
    *image = (struct firmware_image){0};
}

/* The next section from `section` on (NULL: the first) of this type. */
static Elf_Scn *next_section(const struct firmware_image *image, Elf_Scn *section, uint32_t type,
                             GElf_Shdr *header)
{
    while ((section = elf_nextscn(image->elf, section)) != NULL) {
        if (gelf_getshdr(section, header) && header->sh_type == type)
            return section;
    }
    return NULL;
}

struct symbol_table {
    Elf_Data *data;
    size_t count, names;
};

static struct symbol_table symbols_of(const struct firmware_image *image)
{
    struct symbol_table table = {0};
    GElf_Shdr header;
    Elf_Scn *section = next_section(image, NULL, SHT_SYMTAB, &header);
    if (section && header.sh_entsize && (table.data = elf_getdata(section, NULL)) != NULL) {
        table.count = header.sh_size / header.sh_entsize;
        table.names = header.sh_link;
    }
    return table;
}

static const char *symbol_name(const struct firmware_image *image, const struct symbol_table *table,
                               size_t index, GElf_Sym *symbol)
{
    if (!gelf_getsym(table->data, (int)index, symbol) || symbol->st_shndx == SHN_UNDEF)
        return NULL;
    return elf_strptr(image->elf, table->names, symbol->st_name);
}

static bool find_symbol(const struct firmware_image *image, const char *wanted, GElf_Sym *symbol)
{
    struct symbol_table table = symbols_of(image);
    for (size_t i = 0; i < table.count; i++) {
        const char *name = symbol_name(image, &table, i, symbol);
        if (name && strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

static uint32_t address_of(const GElf_Sym *symbol)
{
    bool thumb = GELF_ST_TYPE(symbol->st_info) == STT_FUNC;
    return (uint32_t)symbol->st_value & ~(thumb ? 1u : 0u);
}

bool firmware_find(const struct firmware_image *image, const char *name, uint32_t *address)
{
    GElf_Sym symbol;
    if (!find_symbol(image, name, &symbol))
        return false;
    *address = address_of(&symbol);
    return true;
}

struct address_range {
    uint32_t low, high;
};

static int compare_ranges(const void *a, const void *b)
{
    const struct address_range *left = a, *right = b;
    if (left->low != right->low)
        return left->low < right->low ? -1 : 1;
    return (left->high > right->high) - (left->high < right->high);
}

unsigned firmware_functions(const struct firmware_image *image, const char *pattern,
                            void (*take)(void *context, uint32_t low, uint32_t high), void *context)
{
    struct symbol_table table = symbols_of(image);
    struct address_range *found = memory_new(table.count + 1, sizeof *found);
    size_t count = 0;
    for (size_t i = 0; i < table.count; i++) {
        GElf_Sym symbol;
        const char *name = symbol_name(image, &table, i, &symbol);
        if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0 ||
            fnmatch(pattern, name, 0) != 0)
            continue;
        uint32_t low = address_of(&symbol);
        found[count++] = (struct address_range){low, low + (uint32_t)symbol.st_size};
    }
    qsort(found, count, sizeof *found, compare_ranges);
    unsigned taken = 0;
    uint32_t end = 0;
    /* A function of two names is one function. */
    for (size_t i = 0; i < count; i++) {
        if (taken > 0 && found[i].low < end)
            continue;
        take(context, found[i].low, found[i].high);
        end = found[i].high;
        taken++;
    }
    free(found);
    return taken;
}

bool firmware_set(struct firmware_image *image, const char *name, uint32_t value,
                  struct error *error)
{
    GElf_Sym symbol;
    GElf_Shdr header;
    if (!find_symbol(image, name, &symbol)) {
        error_set(error, EXIT_USAGE, "%s has no symbol '%s', which this run is to set to %u",
                  image->path, name, value);
        return false;
    }
    for (Elf_Scn *section = NULL;
         (section = next_section(image, section, SHT_PROGBITS, &header)) != NULL;) {
        if (!(header.sh_flags & SHF_ALLOC) || symbol.st_value < header.sh_addr ||
            symbol.st_value + sizeof value > header.sh_addr + header.sh_size)
            continue;
        uint64_t at = header.sh_offset + (symbol.st_value - header.sh_addr);
        if (at + sizeof value > image->bytes.size)
            break;
        for (int i = 0; i < 4; i++)
            image->bytes.data[at + (uint64_t)i] = (char)(value >> (8 * i));
        return true;
    }
    error_set(error, EXIT_USAGE,
              "%s: '%s' at 0x%08llx has no initial value in the file: initialise it, not with 0, "
              "or put it into a section of data",
              image->path, name, (unsigned long long)symbol.st_value);
    return false;
}
