/* `tare export --to svg`: one excerpt of a recording, drawn as in the report of `tare cost`. It is
 * no exporter of exp_export.h, since pictures come behind exports in host/LAYERS. */
#ifndef CMD_EXPORT_SVG_H
#define CMD_EXPORT_SVG_H

#include "exp_output.h"
#include "mod_excerpt.h"

/* False with the reason in `error`. `summary` gets a line on what is shown. */
bool export_svg(const char *path, const struct excerpt_options *options,
                struct export_output *output, struct buffer *summary, struct error *error);

#endif
