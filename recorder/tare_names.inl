/* Names: each id's definition, as DEFINE and TEXT records in a stream. On a target they share the
 * ring with the events and leave it in small portions; on Linux each process writes them into a
 * ring of their own that no reader consumes, so that a late reader finds them too. */

static TARE_RARE uint32_t tare_text_length(const char *text, uint32_t limit)
{
    uint32_t length = 0;

    while (length < limit && text[length])
        length++;
    return length;
}

/* The 8 bytes of `text` from `at` on as two words, independent of the byte order. */
static TARE_RARE void tare_text_words(const char *text, uint32_t length, uint32_t at,
                                      uint32_t words[2])
{
    uint32_t i;

    words[0] = words[1] = 0;
    for (i = 0; i < 8 && at + i < length; i++)
        words[i / 4] |= (uint32_t)(unsigned char)text[at + i] << 8 * (i % 4);
}

TARE_RARE void tare_put_string(uint32_t word, const char *string)
{
    uint32_t length = string ? tare_text_length(string, TARE_TEXT_LIMIT) : 0;
    uint32_t at, words[2];

    tare_put1(word, length);
    for (at = 0; at < length; at += 8) {
        tare_text_words(string, length, at, words);
        tare_put2(TARE_WORD(TARE_ID_TEXT), words[0], words[1]);
    }
}

#define TARE_DEFINITION_LIMIT 1023u /* bytes of text */

/* Writes one definition; 0 when there was no room for it. */
static int tare_define(struct tare_writer *writer, uint32_t event_class, uint32_t category,
                       uint32_t id, const char *text);

/* Writes a record of the recorder's own. */
static void tare_note(struct tare_writer *writer, enum tare_id id, uint32_t first, uint32_t second);

/* Empties the ring, which no reader has seen yet. */
static void tare_rewind(struct tare_writer *writer);

/* Defines what one declaration declares; 0 when there was no room. */
static TARE_RARE int tare_define_event(struct tare_writer *writer, const struct tare_event *event)
{
    uint32_t id = event->word ? event->word[0] >> TARE_STAMP_BITS : event->category;

    return tare_define(writer, event->event_class, event->category, id, event->text) &&
           (event->event_class != TARE_CLASS_SPAN_BEGIN ||
            tare_define(writer, TARE_CLASS_SPAN_END, event->category,
                        event->word[1] >> TARE_STAMP_BITS, event->text));
}

/* A span and an interrupt have two words and two ids. */
static int tare_has_two(const struct tare_event *event)
{
    return event->event_class == TARE_CLASS_SPAN_BEGIN ||
           event->event_class == TARE_CLASS_INTERRUPT;
}

/* Gives the ids of one declaration: `id` and maybe the one behind it. */
static TARE_RARE void tare_give_id(const struct tare_event *event, uint32_t id)
{
    event->word[0] = TARE_WORD(id);
    if (tare_has_two(event))
        event->word[1] = TARE_WORD(id + 1);
}

/* Ids that a declaration takes: 0 for a category, which has its own numbers. */
static uint32_t tare_ids_wanted(const struct tare_event *event)
{
    if (!event->word)
        return 0;
    return tare_has_two(event) ? 2 : 1;
}

/* A declaration that got no id keeps its "unnamed" word and has nothing to define. */
static int tare_has_name(const struct tare_event *event)
{
    static const uint32_t unnamed[3] = {TARE_ID_UNNAMED0, TARE_ID_UNNAMED1, TARE_ID_UNNAMED2};

    return !event->word || event->word[0] != TARE_WORD(unnamed[event->arguments]);
}

/* First and last id for events with 0, 1 and 2 argument words. */
static const uint32_t tare_first_id[3] = {TARE_ID_FREE0, TARE_ID_FREE1, TARE_ID_FREE2};
static const uint32_t tare_last_id[3] = {TARE_LAST_ID0, TARE_ID_LAST1, TARE_ID_LAST2};

#if TARE_SELF_TEST || !TARE_PORT_TARGET

/* Cost of one event with `arguments` argument words, in thousandths of a tick: the fastest of five
 * rounds, so that an interrupt in between does not count. `writer` is the one that tare_put finds;
 * its ring is used as scratch memory and left empty. */
static TARE_RARE uint32_t tare_measure(struct tare_writer *writer, uint32_t arguments)
{
    uint32_t best = 0xFFFFFFFFu;
    int round, i;

    for (round = 0; round < 5; round++) {
        tare_clock begin = 0;

        tare_rewind(writer);
        for (i = -1; i < TARE_MEASURE_EVENTS; i++) {
            if (i == 0) /* the first one opened the block */
                begin = tare_clock_here(writer);
            if (arguments == 0)
                tare_put0(TARE_WORD(TARE_ID_UNNAMED0));
            else if (arguments == 1)
                tare_put1(TARE_WORD(TARE_ID_UNNAMED1), 0);
            else
                tare_put2(TARE_WORD(TARE_ID_UNNAMED2), 0, 0);
        }
        begin = tare_clock_here(writer) - begin;
        if (begin < best)
            best = (uint32_t)begin;
    }
    tare_rewind(writer);
    return best * 1000u / TARE_MEASURE_EVENTS;
}

/* Does the clock move, and only forwards? 0 or TARE_ERROR_CLOCK. */
static TARE_RARE int tare_test_clock(struct tare_writer *writer)
{
    uint32_t first = (uint32_t)tare_time(writer, tare_clock_here(writer)), last = first;
    int i;

    for (i = 0; i < 100 || (last == first && i < 1000000); i++) { /* a slow clock gets its time */
        uint32_t now = (uint32_t)tare_time(writer, tare_clock_here(writer));

        if ((int32_t)(now - last) < 0)
            return TARE_ERROR_CLOCK;
        last = now;
    }
    return last != first ? 0 : TARE_ERROR_CLOCK;
}

static TARE_RARE void tare_define_costs(struct tare_writer *writer, const uint32_t costs[3])
{
    uint32_t arguments;

    for (arguments = 0; arguments < 3; arguments++)
        tare_note(writer, TARE_ID_SELF_COST, arguments, costs[arguments]);
}

#endif
