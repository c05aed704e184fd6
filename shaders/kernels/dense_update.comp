// Takes from the tiles right of a panel what the panel explains, A -= X X^T: one workgroup a tile of the lower triangle, or of
// the right-hand side's row, and each thread four rows and four columns of it.
//
// CPU twin: `DenseCholesky::factorise` in crates/system/src/dense.rs

layout(local_size_x = 64) in;

layout(std430, binding = 0) buffer Matrix { double a[]; };

layout(push_constant) uniform Constants {
    uint padded;
    uint tile;      // of the panel
    uint left;      // tiles from the panel to the end of a row
};

#include "lib/thread.glsl"

const uint SIDE = 32u;

// Column after column of the panel's two tiles, so that a thread's four numbers stand together.
shared double rows[SIDE * SIDE];
shared double columns[SIDE * SIDE];

void main() {
    uint lane = gl_LocalInvocationID.x;
    uint group = group_index(), full = left * (left + 1u) / 2u;
    // Tile (i, j), j <= i, counted row by row; the row of the right-hand side has the next `left` numbers.
    uint tile_row = left, tile_column = group - full;
    if (group < full) {
        uint i = uint((sqrt(8.0 * float(group) + 1.0) - 1.0) * 0.5);
        while (i * (i + 1u) / 2u > group) --i;
        while ((i + 1u) * (i + 2u) / 2u <= group) ++i;
        tile_row = i;
        tile_column = group - i * (i + 1u) / 2u;
    }
    bool inside = group < full + left;
    uint first_row = SIDE * (tile + 1u + tile_row), first_column = SIDE * (tile + 1u + tile_column);
    for (uint k = lane; k < SIDE * SIDE; k += 64u) {
        uint r = k / SIDE, m = k % SIDE, c = SIDE * tile + m;
        bool there = inside && first_row + r <= padded;
        rows[SIDE * m + r] = there ? a[padded * (first_row + r) + c] : 0.0lf;
        columns[SIDE * m + r] = inside ? a[padded * (first_column + r) + c] : 0.0lf;
    }
    barrier();
    uint r = 4u * (lane / 8u), c = 4u * (lane % 8u);
    // Above the diagonal there is nothing, and below the right-hand side neither.
    if (!inside || first_row + r > padded || first_row + r + 3u < first_column + c) return;
    dvec4 sum[4] = dvec4[](dvec4(0.0lf), dvec4(0.0lf), dvec4(0.0lf), dvec4(0.0lf));
    for (uint m = 0u; m < SIDE; ++m) {
        uint at = SIDE * m;
        dvec4 x = dvec4(rows[at + r], rows[at + r + 1u], rows[at + r + 2u], rows[at + r + 3u]);
        dvec4 y = dvec4(columns[at + c], columns[at + c + 1u], columns[at + c + 2u], columns[at + c + 3u]);
        precise dvec4 first = sum[0] + x.x * y;
        precise dvec4 second = sum[1] + x.y * y;
        precise dvec4 third = sum[2] + x.z * y;
        precise dvec4 fourth = sum[3] + x.w * y;
        sum[0] = first;
        sum[1] = second;
        sum[2] = third;
        sum[3] = fourth;
    }
    for (uint i = 0u; i < 4u; ++i) {
        for (uint j = 0u; j < 4u; ++j) {
            uint row = first_row + r + i, column = first_column + c + j;
            if (row <= padded && row >= column) a[padded * row + column] -= sum[i][j];
        }
    }
}
