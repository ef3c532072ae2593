/* The files of an experiment's output folder, except the reports. */
#ifndef CMD_COST_FILES_H
#define CMD_COST_FILES_H

#include "ana_cost.h"

/* Creates the folder with logs/, plots/ and recordings/ in it; an existing one must be empty.
 * `*out` becomes its absolute path. */
bool cost_folder_make(const char *path, char **out, struct error *error);

/* runs.csv: one row a run, voided ones included, in the order they were made. */
bool cost_runs_write(const char *folder, const struct cost_data *data, struct error *error);

/* manifest.json: what was asked, with what, in which order. Holds no result. */
bool cost_manifest_write(const char *folder, const struct cost_data *data, const size_t *active,
                         size_t active_count, const size_t *order, const char *command,
                         struct error *error);

/* Writes FOLDER/NAME. */
bool cost_file_write(const char *folder, const char *name, const struct buffer *bytes,
                     struct error *error);

#endif
