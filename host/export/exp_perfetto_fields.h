/* Numbers of the messages and fields of Perfetto's trace format that we write: facts of its public
 * .proto files (trace_packet, clock_snapshot, interned_data, track_descriptor, counter_descriptor,
 * process_descriptor, thread_descriptor, track_event, debug_annotation). */
#ifndef EXP_PERFETTO_FIELDS_H
#define EXP_PERFETTO_FIELDS_H

enum perfetto_field {
    /* Trace */
    TRACE_PACKET = 1,

    /* TracePacket */
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_FIRST_ON_SEQUENCE = 87,

    /* TracePacketDefaults */
    DEFAULTS_TIMESTAMP_CLOCK_ID = 58,

    /* ClockSnapshot, and ClockSnapshot.Clock */
    SNAPSHOT_CLOCKS = 1,
    SNAPSHOT_PRIMARY_CLOCK = 2,
    SNAPSHOT_CLOCK_ID = 1,
    SNAPSHOT_CLOCK_TIME = 2,

    /* InternedData; each entry has number and text */
    INTERNED_CATEGORIES = 1,
    INTERNED_EVENT_NAMES = 2,
    INTERNED_ANNOTATION_NAMES = 3,
    INTERNED_ANNOTATION_TEXTS = 29,
    ENTRY_NUMBER = 1,
    ENTRY_TEXT = 2,

    /* TrackDescriptor */
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT_UUID = 5,
    TRACK_COUNTER = 8,

    /* ProcessDescriptor */
    PROCESS_ID = 1,
    PROCESS_COMMAND_LINE = 2,
    PROCESS_NAME = 6,

    /* ThreadDescriptor */
    THREAD_PROCESS_ID = 1,
    THREAD_ID = 2,
    THREAD_NAME = 5,

    /* CounterDescriptor */
    COUNTER_UNIT = 3,
    COUNTER_UNIT_NAME = 6,

    /* TrackEvent */
    EVENT_CATEGORY_NUMBERS = 3,
    EVENT_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_NUMBER = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_COUNTER_VALUE = 30,
    EVENT_COUNTER_DOUBLE = 44,

    /* DebugAnnotation */
    ANNOTATION_NAME_NUMBER = 1,
    ANNOTATION_BOOL = 2,
    ANNOTATION_UNSIGNED = 3,
    ANNOTATION_SIGNED = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_TEXT = 6,
    ANNOTATION_POINTER = 7, /* shown in hexadecimal */
    ANNOTATION_TEXT_NUMBER = 17
};

enum perfetto_sequence_flag {
    SEQUENCE_STATE_CLEARED = 1,
    SEQUENCE_NEEDS_STATE = 2
};

enum perfetto_clock {
    SNAPSHOT_REALTIME = 1,
    SNAPSHOT_MONOTONIC = 3
};

enum perfetto_event_type {
    EVENT_SLICE_BEGIN = 1,
    EVENT_SLICE_END = 2,
    EVENT_INSTANT = 3,
    EVENT_COUNTER = 4
};

enum perfetto_unit {
    UNIT_NANOSECONDS = 1,
    UNIT_BYTES = 3
};

#endif
