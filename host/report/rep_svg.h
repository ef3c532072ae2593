/* A small deterministic SVG writer: the same calls give the same bytes.
 *
 * Colours come from classes, so that one picture serves light and dark screens and paper; shapes,
 * not colours alone, tell series apart. Coordinates are pixels, written with at most two decimals.
 */
#ifndef REP_SVG_H
#define REP_SVG_H

#include <stdbool.h>

#include "base_buffer.h"

/* Styles of all pictures, for the <style> of a page that holds them or of a file of its own. */
extern const char svg_style[];

enum {
    SVG_SERIES = 8
}; /* colours and shapes; further series repeat them */

/* `id` must be unique in the page; title and description are for readers who cannot see the
 * picture. `standalone` adds what a file of its own needs. */
void svg_begin(struct buffer *out, const char *id, double width, double height, const char *title,
               const char *description, bool standalone);
void svg_end(struct buffer *out);

/* `class_name` of the calls below: names from svg_style, separated by blanks. */
void svg_line(struct buffer *out, const char *class_name, double x1, double y1, double x2,
              double y2);
void svg_rectangle(struct buffer *out, const char *class_name, double x, double y, double width,
                   double height);
enum svg_anchor {
    SVG_START,
    SVG_MIDDLE,
    SVG_END
};
void svg_text(struct buffer *out, const char *class_name, double x, double y,
              enum svg_anchor anchor, const char *text);
/* A shape of 2 x radius around a point: circle, ring, square, diamond, triangle, ... by series. */
void svg_marker(struct buffer *out, int series, double x, double y, double radius, bool faint,
                const char *tooltip);
/* A polyline through `count` points x0 y0 x1 y1 ... */
void svg_polyline(struct buffer *out, const char *class_name, const double *points, int count);

/* Text with &, <, >, " and ' replaced and control characters left out; for HTML as well. */
void svg_escape(struct buffer *out, const char *text);

/* An axis: round numbers that cover a range. */
struct svg_axis {
    double low, high; /* of the values */
    double from, to;  /* in pixels */
    double step;      /* between ticks */
    int decimals;     /* that the ticks need */
};
/* About `ticks` steps of 1, 2 or 5 x 10^n; a range of no width is widened. */
struct svg_axis svg_axis_make(double low, double high, double from, double to, int ticks);
double svg_axis_place(const struct svg_axis *axis, double value);

#endif
