# Makes the JSON object of figures_linux.sh out of its "name value" lines.
{
    name = $1
    sub(/^[^ ]+ ?/, "")
    value[name] = $0
}

function put(key, text) {
    printf "%s\"%s\":%s", (keys++ ? "," : "{"), key, text
}

# A number with at most `digits` digits behind the point; null when it is not known.
function number(key, known, figure, digits,    text) {
    text = sprintf("%.*f", digits, figure)
    if (digits > 0)
        sub(/\.?0+$/, "", text)
    put(key, known ? text : "null")
}

function text(key,    quoted) {
    quoted = value["text." key]
    gsub(/[\\"]/, "\\\\&", quoted)
    put(key, quoted == "" ? "null" : "\"" quoted "\"")
}

# Instructions that an event adds: in the cheapest short batch, which is the event alone; in the
# cheapest long one, with its share of the ring's new blocks. What a call of the loop costs once is
# less than one event's share of a short batch, and cut off there.
function added(binary, loop, batch,    more) {
    more = value[binary "." loop "." batch ".least"] - value[binary ".nothing." batch ".least"]
    if (!(("counts." batch "_batch") in value))
        return 0
    more /= value["counts." batch "_batch"]
    return batch == "short" ? int(more) : more
}

function absolute(figure) {
    return figure < 0 ? -figure : figure
}

# What the recorder itself measured at its start.
function self_cost_ns(words) {
    return value["full.self_cost_" words "_milliticks"] * 1e6 / value["full.ticks_per_second"]
}

# Events that the books of a recording cannot explain.
function error_of(run) {
    if (!((run ".attempted") in value))
        return 0
    return absolute(value[run ".attempted"] - value[run ".stored"] - value[run ".lost"] - \
                    value[run ".kept_back"]) + value[run ".gaps"] + value[run ".faults"] + \
           (((run ".dropped") in value) ? absolute(value[run ".dropped"] - value[run ".lost"]) : 0)
}

END {
    counted = "counts.attempted" in value
    compared = "lttng.stored" in value
    lossless = compared && value["lttng.stored"] == value["beside.attempted"] && \
               value["lttng.lost"] == 0 && value["beside.lost"] == 0

    number("event_u32_instructions", counted, added("on", "event1", "short"), 0)
    number("event_0_instructions", counted, added("on", "event0", "short"), 0)
    number("event_2_instructions", counted, added("on", "event2", "short"), 0)
    number("event_u32_full_speed_instructions", counted, added("on", "event1", "long"), 2)
    number("event_off_instructions", counted, added("on", "off", "short"), 0)
    number("event_compiled_out_instructions", counted, added("out", "event1", "short"), 0)

    put("event_u32_bytes", value["full.stored"] > 0 ? \
        sprintf("%g", 4 * value["full.words_events"] / value["full.stored"]) : "null")
    number("anchor_epoch_share", 1, 1 - value["full.words_events"] / value["full.words"], 5)

    number("event_u32_ns", 1, value["beside.event_u32_ns"], 3)
    number("event_u32_full_speed_mean_ns", 1, value["full.event_u32_mean_ns"], 3)
    number("event_u32_lost_mean_ns", 1, value["lose.event_u32_mean_ns"], 3)
    number("clock_and_store_ns", 1, value["beside.clock_and_store_ns"], 3)
    number("lttng_event_u32_ns", compared, value["beside.lttng_event_u32_ns"], 3)
    number("event_u32_ns_ratio_lttng", lossless, \
           compared ? value["beside.event_u32_ns"] / value["beside.lttng_event_u32_ns"] : 0, 4)
    number("self_cost_0_ns", 1, self_cost_ns(0), 2)
    number("self_cost_u32_ns", 1, self_cost_ns(1), 2)
    number("self_cost_2_ns", 1, self_cost_ns(2), 2)

    rate = value["beside.decoded_events"] * 1e9 / value["beside.decode_ns"]
    number("decode_events_per_second", 1, rate, 0)
    number("decode_ratio_babeltrace2", lossless, \
           compared ? rate * value["babeltrace2.user_s"] / value["lttng.stored"] : 0, 1)

    number("events_dropped_on_purpose", 1, value["lose.lost"] + value["jitter.lost"], 0)
    number("accounting_error_events", 1, error_of("counts") + error_of("full") + error_of("lose") + \
           error_of("jitter") + error_of("beside"), 0)

    text("size")
    text("tare_version")
    text("compiler")
    text("lttng_version")
    text("babeltrace2_version")
    text("valgrind_version")
    text("processor")
    number("processors", 1, value["text.processors"], 0)
    text("system")
    text("clock")
    print "}"
}
