/* The subcommands in the order of `tare help`, one line each: COMMAND(NAME) stands for
 * `const struct command command_NAME` in cmd_NAME.c. Included with different meanings of COMMAND,
 * so there is no include guard. */
COMMAND(record)
COMMAND(snapshot)
COMMAND(dump)
COMMAND(check)
COMMAND(export)
COMMAND(cost)
