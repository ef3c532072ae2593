#include "dec_error.h"

#define STREAM_FAULT_NAME(symbol, name, text) name,
#define STREAM_FAULT_TEXT(symbol, name, text) text,

const char *stream_fault_name(enum stream_fault fault)
{
    static const char *const names[] = {STREAM_FAULT_LIST(STREAM_FAULT_NAME)};

    return names[fault];
}

const char *stream_fault_text(enum stream_fault fault)
{
    static const char *const texts[] = {STREAM_FAULT_LIST(STREAM_FAULT_TEXT)};

    return texts[fault];
}

const char *file_fault_name(enum file_fault fault)
{
    static const char *const names[] = {FILE_FAULT_LIST(STREAM_FAULT_NAME)};

    return names[fault];
}

const char *file_fault_text(enum file_fault fault)
{
    static const char *const texts[] = {FILE_FAULT_LIST(STREAM_FAULT_TEXT)};

    return texts[fault];
}
