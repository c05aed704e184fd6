// Takes from the tiles right of a panel what the panel explains, A -= X X^T: one workgroup a tile of the lower triangle, or of
// the right-hand side's row.
//
// CPU twin: `DenseCholesky::factorise` in crates/system/src/dense.rs

layout(local_size_x = 256) in;

layout(std430, binding = 0) buffer Matrix { double a[]; };

layout(push_constant) uniform Constants {
    uint padded;
    uint tile;      // of the panel
    uint left;      // tiles from the panel to the end of a row
};

#include "lib/thread.glsl"

const uint SIDE = 32u;

shared double rows[SIDE * SIDE];
shared double columns[SIDE * SIDE];

void main() {
    uint lane = gl_LocalInvocationID.x;
    uint group = group_index(), full = left * (left + 1u) / 2u;
    // Tile (i, j), j <= i, counted row by row; the row of the right-hand side has the next `left` numbers.
    uint i = left, j = group - full;
    if (group < full) {
        i = uint((sqrt(8.0 * float(group) + 1.0) - 1.0) * 0.5);
        while (i * (i + 1u) / 2u > group) --i;
        while ((i + 1u) * (i + 2u) / 2u <= group) ++i;
        j = group - i * (i + 1u) / 2u;
    }
    bool inside = group < full + left;
    uint first_row = SIDE * (tile + 1u + i), first_column = SIDE * (tile + 1u + j);
    for (uint k = lane; k < SIDE * SIDE; k += 256u) {
        uint r = k / SIDE, c = SIDE * tile + k % SIDE;
        bool there = inside && first_row + r <= padded;
        rows[k] = there ? a[padded * (first_row + r) + c] : 0.0lf;
        // Side by side for the threads of a row.
        columns[SIDE * (k % SIDE) + r] = inside ? a[padded * (first_column + r) + c] : 0.0lf;
    }
    barrier();
    for (uint k = lane; k < SIDE * SIDE; k += 256u) {
        uint r = k / SIDE, c = k % SIDE;
        if (!inside || first_row + r > padded || first_row + r < first_column + c) continue;
        uint at = padded * (first_row + r) + first_column + c;
        precise double sum = a[at];
        for (uint m = 0u; m < SIDE; ++m) sum -= rows[SIDE * r + m] * columns[SIDE * m + c];
        a[at] = sum;
    }
}
