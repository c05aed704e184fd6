// The second triangular system, L^T z = y with y the row below the factor, and the direction from it, scaled back: one
// workgroup, tile after tile from the last.
//
// CPU twin: `DenseCholesky::solve` in crates/system/src/dense.rs

layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly buffer Matrix { double a[]; };
layout(std430, binding = 1) readonly buffer Scale { double scale[]; };
// What is left of y.
layout(std430, binding = 2) coherent buffer Left { double y[]; };
layout(std430, binding = 3) writeonly buffer Direction { double x[]; };

layout(push_constant) uniform Constants { uint n; uint padded; };

const uint SIDE = 32u;

shared double l[SIDE * SIDE];
shared double z[SIDE];

void main() {
    uint lane = gl_LocalInvocationID.x;
    for (uint k = lane; k < padded; k += 256u) y[k] = a[padded * padded + k];
    for (uint tile = padded / SIDE; tile-- > 0u;) {
        memoryBarrierBuffer();
        barrier();
        uint start = SIDE * tile, corner = (padded + 1u) * start;
        for (uint k = lane; k < SIDE * SIDE; k += 256u) l[k] = a[corner + padded * (k / SIDE) + k % SIDE];
        if (lane < SIDE) z[lane] = y[start + lane];
        barrier();
        for (uint j = SIDE; j-- > 0u;) {
            if (lane == j) {
                precise double solved = z[j] / l[SIDE * j + j];
                z[j] = solved;
            }
            barrier();
            if (lane < j) {
                precise double less = l[SIDE * j + lane] * z[j];
                z[lane] -= less;
            }
            barrier();
        }
        if (lane < SIDE && start + lane < n) {
            precise double back = z[lane] * scale[start + lane];
            x[start + lane] = back;
        }
        for (uint c = lane; c < start; c += 256u) {
            precise double sum = y[c];
            for (uint r = 0u; r < SIDE; ++r) sum -= a[padded * (start + r) + c] * z[r];
            y[c] = sum;
        }
    }
}
