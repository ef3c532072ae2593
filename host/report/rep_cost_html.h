/* Pieces that the two halves of the page share. */
#ifndef REP_COST_HTML_H
#define REP_COST_HTML_H

#include "rep_cost.h"
#include "rep_svg.h"

/* Sections 1 to 5: answer, validity, cost, graphs, order. */
void html_answer(const struct cost_page *page, struct buffer *out);
void html_validity(const struct cost_page *page, struct buffer *out);
void html_costs(const struct cost_page *page, struct buffer *out);
void html_graphs(const struct cost_page *page, struct buffer *out);
void html_order(const struct cost_page *page, struct buffer *out);

/* Sections 6 to 14: sources, memory, trace, load, application, runs, settings, limits,
 * reproduction. */
void html_sources(const struct cost_page *page, struct buffer *out);
void html_memory(const struct cost_page *page, struct buffer *out);
void html_trace(const struct cost_page *page, struct buffer *out);
void html_load(const struct cost_page *page, struct buffer *out);
void html_application(const struct cost_page *page, struct buffer *out);
void html_runs(const struct cost_page *page, struct buffer *out);
void html_settings(const struct cost_page *page, struct buffer *out);
void html_limits(const struct cost_page *page, struct buffer *out);
void html_reproduction(const struct cost_page *page, struct buffer *out);

/* "<h2 ...>N. Title</h2>" and the section around it. */
void html_section(struct buffer *out, int number, const char *anchor, const char *title);
void html_end_section(struct buffer *out);

/* A table in a box that scrolls sideways; `columns` are the headings, a leading '>' means figures.
 */
void html_table(struct buffer *out, const char *caption, const char *const *columns, size_t count);
void html_end_table(struct buffer *out);
void html_cell(struct buffer *out, const char *text);           /* <td> */
void html_head_cell(struct buffer *out, const char *text);      /* <th scope=row> */
void html_figure_cell(struct buffer *out, struct buffer *text); /* <td class=n>; clears the text */

#endif
