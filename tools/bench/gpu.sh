#!/usr/bin/env bash
# Everything that is to be known of a GPU, in one call of under eight minutes, the build included: its bandwidth, how near
# assembly, matrix products and the search for candidates come to it, and what a Newton iteration costs at 1e4, 1e5 and 1e6
# triangles on it and on the CPU. What does not fit into the time is left out, and said.
#
#   tools/bench/gpu.sh [--device NAME] [--triangles 10000,100000] [--seconds 420] [--json]
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --quiet --release -p gusset-measure
# What the build has left of eight minutes; after a long one, at least two.
left=$((440 - SECONDS))
exec "${CARGO_TARGET_DIR:-target}/release/gusset-measure" --seconds "$((left > 120 ? left : 120))" "$@"
