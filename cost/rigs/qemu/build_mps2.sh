#!/bin/sh
# The same as build_board.sh; BOARD is an MPS2 or MPS3 board.
exec "$(dirname "$0")/build_board.sh" "$@"
