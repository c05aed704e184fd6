// Cholesky factor of one tile on the diagonal of a dense matrix, in place: one workgroup.
//
// CPU twin: `DenseCholesky::factorise` in crates/system/src/dense.rs

layout(local_size_x = 256) in;

layout(std430, binding = 0) buffer Matrix { double a[]; };
layout(std430, binding = 1) buffer Status { uint status[]; };

layout(push_constant) uniform Constants { uint padded; uint tile; };

const uint SIDE = 32u;

shared double t[SIDE * SIDE];

void main() {
    uint lane = gl_LocalInvocationID.x;
    uint corner = (padded + 1u) * SIDE * tile;
    for (uint k = lane; k < SIDE * SIDE; k += 256u) t[k] = a[corner + padded * (k / SIDE) + k % SIDE];
    barrier();
    for (uint j = 0u; j < SIDE; ++j) {
        double pivot = t[SIDE * j + j];
        barrier();
        if (lane == 0u && !(pivot > 0.0lf)) atomicOr(status[0], 2u);
        precise double root = sqrt(pivot);
        if (lane >= j && lane < SIDE) {
            precise double below = lane == j ? root : t[SIDE * lane + j] / root;
            t[SIDE * lane + j] = below;
        }
        barrier();
        for (uint k = lane; k < SIDE * SIDE; k += 256u) {
            uint row = k / SIDE, column = k % SIDE;
            if (column > j && row >= column) {
                precise double less = t[SIDE * row + j] * t[SIDE * column + j];
                t[k] -= less;
            }
        }
        barrier();
    }
    for (uint k = lane; k < SIDE * SIDE; k += 256u) {
        if (k / SIDE >= k % SIDE) a[corner + padded * (k / SIDE) + k % SIDE] = t[k];
    }
}
