#!/bin/sh
# The same as run_board.sh; BOARD is an MPS2 or MPS3 board.
exec "$(dirname "$0")/run_board.sh" "$@"
