#!/usr/bin/env bash
# Everything that is to be known of a GPU, in one call of under eight minutes: its bandwidth, how near assembly and matrix products
# come to it, and what a Newton iteration costs at 1e4, 1e5 and 1e6 triangles on it and on the CPU.
#
#   tools/bench/gpu.sh [--device NAME] [--triangles 10000,100000] [--json]
set -euo pipefail
cd "$(dirname "$0")/../.."
exec cargo run --quiet --release -p gusset-measure -- "$@"
