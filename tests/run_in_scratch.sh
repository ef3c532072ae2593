# Runs COMMAND in an empty folder: run_in_scratch.sh FOLDER COMMAND...
set -eu
SCRATCH=$1
shift
# A test may leave folders behind that it made read-only.
chmod -R u+rwX "$SCRATCH" 2>/dev/null || true
rm -rf "$SCRATCH"
mkdir -p "$SCRATCH"
cd "$SCRATCH"
export SCRATCH
exec "$@"
