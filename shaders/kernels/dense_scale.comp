// Scale of each row of the dense matrix, by which its diagonal becomes 1: one thread a block of the sparse one.
//
// CPU twin: the equilibration of `LinearSolver::solve` in crates/system/src/solver.rs

layout(local_size_x = 64) in;

// Row and column of each block among the free vertices.
layout(std430, binding = 0) readonly buffer Places { uvec2 places[]; };
layout(std430, binding = 1) readonly buffer Blocks { double blocks[]; };
layout(std430, binding = 2) writeonly buffer Scale { double scale[]; };
// Set where the matrix is not positive definite.
layout(std430, binding = 3) buffer Status { uint status[]; };

layout(push_constant) uniform Constants { uint count; };

#include "lib/thread.glsl"

void main() {
    uint k = thread_index();
    if (k >= count || places[k].x != places[k].y) return;
    for (uint c = 0u; c < 3u; ++c) {
        double d = blocks[9u * k + 4u * c];
        if (!(d > 0.0lf)) atomicOr(status[0], 2u);
        precise double s = 1.0lf / sqrt(d);
        scale[3u * places[k].x + c] = s;
    }
}
