// The tiles below a factorised one, X = A L^-T, and the right-hand side with them: one thread a row.
//
// CPU twin: `DenseCholesky::factorise` in crates/system/src/dense.rs

layout(local_size_x = 32) in;

layout(std430, binding = 0) buffer Matrix { double a[]; };

layout(push_constant) uniform Constants { uint padded; uint tile; };

#include "lib/thread.glsl"

const uint SIDE = 32u;

shared double l[SIDE * SIDE];

void main() {
    uint lane = gl_LocalInvocationID.x;
    uint corner = (padded + 1u) * SIDE * tile;
    for (uint k = lane; k < SIDE * SIDE; k += SIDE) l[k] = a[corner + padded * (k / SIDE) + k % SIDE];
    barrier();
    // The row of the right-hand side is the last.
    uint row = SIDE * (tile + 1u) + SIDE * group_index() + lane;
    if (row > padded) return;
    uint first = padded * row + SIDE * tile;
    double x[SIDE];
    for (uint j = 0u; j < SIDE; ++j) {
        precise double sum = a[first + j];
        for (uint k = 0u; k < j; ++k) sum -= x[k] * l[SIDE * j + k];
        precise double solved = sum / l[SIDE * j + j];
        x[j] = solved;
        a[first + j] = solved;
    }
}
