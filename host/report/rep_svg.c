#include "rep_svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHEET(ink, soft, rule, paper, band, c0, c1, c2, c3, c4, c5, c6, c7) \
    ".svg-ink{fill:" ink "}.svg-soft{fill:" soft "}.svg-rule{stroke:" rule \
    "}.svg-axis{stroke:" soft "}.svg-paper{fill:" paper "}.svg-band{fill:" band \
    "}.svg-gap{fill:" paper ";stroke:" soft "}.svg-hatch{stroke:" soft "}" \
    ".svg-f0{fill:" c0 "}.svg-f1{fill:" c1 "}.svg-f2{fill:" c2 "}.svg-f3{fill:" c3 \
    "}.svg-f4{fill:" c4 "}.svg-f5{fill:" c5 "}.svg-f6{fill:" c6 "}.svg-f7{fill:" c7 \
    "}.svg-s0{stroke:" c0 "}.svg-s1{stroke:" c1 "}.svg-s2{stroke:" c2 "}.svg-s3{stroke:" c3 \
    "}.svg-s4{stroke:" c4 "}.svg-s5{stroke:" c5 "}.svg-s6{stroke:" c6 "}.svg-s7{stroke:" c7 "}"

const char svg_style[] =
    ".svg-text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
    "font-size:12px}.svg-small{font-size:11px}.svg-bold{font-weight:600}"
    ".svg-rule,.svg-axis,.svg-join{stroke-width:1}.svg-join{fill:none;stroke-opacity:.35}"
    ".svg-thick{stroke-width:5;stroke-linecap:butt}.svg-thin{stroke-width:1.5}"
    ".svg-mean{stroke-width:2.5}.svg-dash{stroke-dasharray:4 3}.svg-faint{fill-opacity:.45}"
    ".svg-ring{fill:none;stroke-width:1.8}.svg-light{fill-opacity:.28}" SHEET(
        "#1c2026", "#5a636e", "#dde1e6", "#ffffff", "#e4ecf5", "#59626d", "#7c8590", "#0b62b0",
        "#b04600", "#00735a", "#97387f", "#6d6100",
        "#3b3f45") "@media screen and (prefers-color-scheme:dark){" SHEET("#e8eaed", "#a3acb8",
                                                                          "#343b44", "#15181c",
                                                                          "#202c3a", "#b4bcc7",
                                                                          "#8f98a4", "#63b5ff",
                                                                          "#ff9f5c", "#45cba2",
                                                                          "#e692d2", "#d9c752",
                                                                          "#d5d9de") "}";

/* At most two decimals, no trailing zeros, no "-0". */
static void number(struct buffer *out, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.2f", value);
    size_t length = strlen(text);
    while (text[length - 1] == '0') {
        text[--length] = 0;
    }
    if (text[length - 1] == '.') {
        text[--length] = 0;
    }
    buffer_text(out, strcmp(text, "-0") == 0 ? "0" : text);
}

static void attribute(struct buffer *out, const char *name, double value)
{
    buffer_printf(out, " %s=\"", name);
    number(out, value);
    buffer_text(out, "\"");
}

void svg_escape(struct buffer *out, const char *text)
{
    for (; *text != 0; text++) {
        switch (*text) {
        case '&':
            buffer_text(out, "&amp;");
            break;
        case '<':
            buffer_text(out, "&lt;");
            break;
        case '>':
            buffer_text(out, "&gt;");
            break;
        case '"':
            buffer_text(out, "&quot;");
            break;
        case '\'':
            buffer_text(out, "&#39;");
            break;
        default:
            if ((unsigned char)*text >= 0x20 || *text == '\n' || *text == '\t') {
                buffer_append(out, text, 1);
            }
            break;
        }
    }
}

void svg_begin(struct buffer *out, const char *id, double width, double height, const char *title,
               const char *description, bool standalone)
{
    buffer_text(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"svg\" viewBox=\"0 0 ");
    number(out, width);
    buffer_text(out, " ");
    number(out, height);
    buffer_text(out, "\"");
    attribute(out, "width", width);
    attribute(out, "height", height);
    buffer_printf(out,
                  " role=\"img\" aria-labelledby=\"%s-title %s-desc\">\n<title id=\"%s-title\">",
                  id, id, id);
    svg_escape(out, title);
    buffer_printf(out, "</title>\n<desc id=\"%s-desc\">", id);
    svg_escape(out, description);
    buffer_text(out, "</desc>\n");
    if (standalone) {
        buffer_printf(out, "<style>%s</style>\n", svg_style);
        svg_rectangle(out, "svg-paper", 0, 0, width, height);
    }
}

void svg_end(struct buffer *out)
{
    buffer_text(out, "</svg>\n");
}

void svg_line(struct buffer *out, const char *class_name, double x1, double y1, double x2,
              double y2)
{
    buffer_printf(out, "<line class=\"%s\"", class_name);
    attribute(out, "x1", x1);
    attribute(out, "y1", y1);
    attribute(out, "x2", x2);
    attribute(out, "y2", y2);
    buffer_text(out, "/>\n");
}

void svg_rectangle(struct buffer *out, const char *class_name, double x, double y, double width,
                   double height)
{
    buffer_printf(out, "<rect class=\"%s\"", class_name);
    attribute(out, "x", x);
    attribute(out, "y", y);
    attribute(out, "width", width);
    attribute(out, "height", height);
    buffer_text(out, "/>\n");
}

void svg_text(struct buffer *out, const char *class_name, double x, double y,
              enum svg_anchor anchor, const char *text)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    buffer_printf(out, "<text class=\"svg-text %s\"%s", class_name, anchors[anchor]);
    attribute(out, "x", x);
    attribute(out, "y", y);
    buffer_text(out, ">");
    svg_escape(out, text);
    buffer_text(out, "</text>\n");
}

void svg_marker(struct buffer *out, int series, double x, double y, double radius, bool faint,
                const char *tooltip)
{
    /* Corners as multiples of the radius; circles and rings have none. */
    static const struct {
        int corners;
        double at[8];
    } shapes[] = {{0, {0}},
                  {0, {0}},
                  {4, {-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9}},
                  {4, {0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0}},
                  {3, {0, -1.2, 1.2, 1, -1.2, 1}},
                  {3, {0, 1.2, 1.2, -1, -1.2, -1}},
                  {4, {-1.3, -0.6, 1.3, -0.6, 1.3, 0.6, -1.3, 0.6}},
                  {4, {-0.6, -1.3, 0.6, -1.3, 0.6, 1.3, -0.6, 1.3}}};
    int colour = series % SVG_SERIES;
    int corners = shapes[colour].corners;
    if (colour == 1) {
        buffer_printf(out, "<circle class=\"svg-ring svg-s%d\"", colour);
    } else {
        buffer_printf(out, "<%s class=\"svg-f%d%s\"", corners == 0 ? "circle" : "polygon", colour,
                      faint ? " svg-faint" : "");
    }
    if (corners == 0) {
        attribute(out, "cx", x);
        attribute(out, "cy", y);
        attribute(out, "r", colour == 1 ? radius - 0.6 : radius);
    } else {
        buffer_text(out, " points=\"");
        for (int i = 0; i < corners; i++) {
            number(out, x + radius * shapes[colour].at[2L * i]);
            buffer_text(out, ",");
            number(out, y + radius * shapes[colour].at[2L * i + 1]);
            buffer_text(out, i + 1 < corners ? " " : "\"");
        }
    }
    if (tooltip != NULL) {
        buffer_text(out, "><title>");
        svg_escape(out, tooltip);
        buffer_text(out, corners == 0 ? "</title></circle>\n" : "</title></polygon>\n");
    } else {
        buffer_text(out, "/>\n");
    }
}

void svg_polyline(struct buffer *out, const char *class_name, const double *points, int count)
{
    buffer_printf(out, "<polyline class=\"%s\" points=\"", class_name);
    for (int i = 0; i < count; i++) {
        number(out, points[2L * i]);
        buffer_text(out, ",");
        number(out, points[2L * i + 1]);
        buffer_text(out, i + 1 < count ? " " : "");
    }
    buffer_text(out, "\"/>\n");
}

struct svg_axis svg_axis_make(double low, double high, double from, double to, int ticks)
{
    if (!(high > low)) {
        double reach = low != 0 ? fabs(low) * 0.05 : 1;
        low -= reach;
        high += reach;
    }
    double rough = (high - low) / ticks;
    double power = pow(10, floor(log10(rough)));
    double part = rough / power;
    double step = power * (part <= 1 ? 1 : (part <= 2 ? 2 : (part <= 5 ? 5 : 10)));
    double decimals = -floor(log10(step) + 1e-9);
    return (struct svg_axis){.low = low,
                             .high = high,
                             .from = from,
                             .to = to,
                             .step = step,
                             .decimals = decimals > 0 ? (int)decimals : 0};
}

double svg_axis_place(const struct svg_axis *axis, double value)
{
    double share = (value - axis->low) / (axis->high - axis->low);
    return axis->from + share * (axis->to - axis->from);
}
