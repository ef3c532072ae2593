#include "cmd_cost_host.h"

#include <elf.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#include "base_progress.h"

enum {
    SENTINEL_PARTS = 5,
    SENTINEL_STEPS = 1000000
};

double host_sentinel_ns(void)
{
    static volatile uint64_t sink;
    uint64_t fastest = UINT64_MAX;
    uint64_t state = 88172645463325252u;
    for (int part = 0; part < SENTINEL_PARTS; part++) {
        uint64_t begun = monotonic_ns();
        for (int step = 0; step < SENTINEL_STEPS; step++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        sink = state;
        uint64_t taken = monotonic_ns() - begun;
        fastest = taken < fastest ? taken : fastest;
    }
    (void)sink;
    return (double)fastest;
}

double host_load_average(void)
{
    double load;
    return getloadavg(&load, 1) == 1 ? load : NAN;
}

/* ------------------------------------------------------------------ facts */

static void add_fact(struct cost_fact **facts, size_t *count, const char *name, const char *value)
{
    *facts = memory_resize(*facts, *count + 1, sizeof **facts);
    (*facts)[(*count)++] = (struct cost_fact){memory_text(name), memory_text(value)};
}

/* The rest of the first line that starts with `key`, behind blanks and a colon; "" when there is
 * none. */
static void line_of(const char *path, const char *key, char *value, size_t size)
{
    char line[4096];
    value[0] = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            char *start = line + strlen(key);
            start += strspn(start, " \t:");
            start[strcspn(start, "\n")] = 0;
            snprintf(value, size, "%s", start);
            break;
        }
    }
    fclose(file);
}

struct cost_fact *host_facts(size_t *count)
{
    struct cost_fact *facts = NULL;
    char text[4096];
    struct utsname system = {0};
    *count = 0;
    line_of("/proc/cpuinfo", "model name", text, sizeof text);
    add_fact(&facts, count, "processor", text[0] != 0 ? text : "not known");
    snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    add_fact(&facts, count, "processors online", text);
    char flags[4096];
    line_of("/proc/cpuinfo", "flags", flags, sizeof flags);
    add_fact(&facts, count, "virtual machine",
             flags[0] == 0 ? "not known" : (strstr(flags, " hypervisor") != NULL ? "yes" : "no"));
    line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "", text, sizeof text);
    add_fact(&facts, count, "frequency governor", text[0] != 0 ? text : "not readable");
    line_of("/proc/meminfo", "MemTotal", text, sizeof text);
    add_fact(&facts, count, "memory", text[0] != 0 ? text : "not known");
    uname(&system);
    snprintf(text, sizeof text, "%s %s %s", system.sysname, system.release, system.machine);
    add_fact(&facts, count, "kernel", text);
    line_of("/etc/os-release", "PRETTY_NAME=", text, sizeof text);
    text[strcspn(text, "\n")] = 0;
    add_fact(&facts, count, "system", text[0] != 0 ? text : "not known");
    add_fact(&facts, count, "tare", TARE_VERSION);
#ifdef __OPTIMIZE__
    add_fact(&facts, count, "compiler of tare", __VERSION__ ", optimised");
#else
    add_fact(&facts, count, "compiler of tare", __VERSION__ ", not optimised");
#endif
    return facts;
}

void cost_facts_free(struct cost_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(facts[i].name);
        free(facts[i].value);
    }
    free(facts);
}

/* ------------------------------------------------------------------ images */

/* Adds one section of a file that is loaded. */
static void add_section(struct cost_image *image, uint64_t flags, uint32_t type, uint64_t size)
{
    double *kind = &image->constant_bytes;
    if (!(flags & SHF_ALLOC)) {
        return;
    }
    if (flags & SHF_EXECINSTR) {
        kind = &image->code_bytes;
    } else if (type == SHT_NOBITS) {
        kind = &image->zeroed_bytes;
    } else if (flags & SHF_WRITE) {
        kind = &image->data_bytes;
    }
    *kind += (double)size;
}

/* Sections of a file of either width, in this machine's byte order. */
static void add_sections(struct cost_image *image, const struct buffer *file)
{
    uint16_t one = 1;
    unsigned char native = *(unsigned char *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;
    Elf64_Ehdr wide;
    Elf32_Ehdr narrow;
    if (file->size < sizeof wide) {
        return;
    }
    memcpy(&wide, file->data, sizeof wide);
    memcpy(&narrow, file->data, sizeof narrow);
    bool is_wide = wide.e_ident[EI_CLASS] == ELFCLASS64;
    uint64_t count = is_wide ? wide.e_shnum : narrow.e_shnum;
    uint64_t entry = is_wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    uint64_t begin = is_wide ? wide.e_shoff : narrow.e_shoff;
    if (memcmp(wide.e_ident, ELFMAG, SELFMAG) != 0 || wide.e_ident[EI_DATA] != native ||
        (!is_wide && wide.e_ident[EI_CLASS] != ELFCLASS32) ||
        (is_wide ? wide.e_shentsize : narrow.e_shentsize) != entry || begin > file->size ||
        count * entry > file->size - begin) {
        return;
    }
    image->code_bytes = image->constant_bytes = image->data_bytes = image->zeroed_bytes = 0;
    for (uint64_t i = 0; i < count; i++) {
        const char *at = file->data + begin + i * entry;
        if (is_wide) {
            Elf64_Shdr section;
            memcpy(&section, at, sizeof section);
            add_section(image, section.sh_flags, section.sh_type, section.sh_size);
        } else {
            Elf32_Shdr section;
            memcpy(&section, at, sizeof section);
            add_section(image, section.sh_flags, section.sh_type, section.sh_size);
        }
    }
}

struct cost_image host_image(const char *name, const char *path)
{
    struct cost_image image = {.path = memory_text(name),
                               .bytes = NAN,
                               .code_bytes = NAN,
                               .constant_bytes = NAN,
                               .data_bytes = NAN,
                               .zeroed_bytes = NAN};
    struct buffer file = {0};
    struct error error = {0};
    if (file_read(path, &file, &error)) {
        char text[64];
        XXH128_hash_t hash = XXH3_128bits(file.data, file.size);
        snprintf(text, sizeof text, "xxh3-128:%016llx%016llx", (unsigned long long)hash.high64,
                 (unsigned long long)hash.low64);
        image.hash = memory_text(text);
        image.bytes = (double)file.size;
        add_sections(&image, &file);
    } else {
        image.hash = memory_text("not readable");
    }
    buffer_free(&file);
    return image;
}

static double folder_bytes;

static int add_file(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)path;
    (void)place;
    if (type == FTW_F) {
        folder_bytes += (double)status->st_size;
    }
    return 0;
}

double host_size_bytes(const char *path)
{
    folder_bytes = 0;
    if (access(path, F_OK) != 0 || nftw(path, add_file, 16, FTW_PHYS) != 0) {
        return NAN;
    }
    return folder_bytes;
}
