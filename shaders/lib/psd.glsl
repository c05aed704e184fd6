// Makes the Hessian of one stencil positive semi-definite. Needs ARITY and OUTPUTS; the packed upper triangle follows the
// gradient.
//
// CPU twin: `project` in crates/energy/src/psd.rs, which takes the eigen-decomposition by another method.

// 0: as it is; 1: negative eigenvalues to 0; 2: to their absolute values.
layout(constant_id = 0) const uint PSD = 0u;

const uint DOF = 3u * ARITY;

uint packed_index(uint r, uint c) {
    uint a = min(r, c), b = max(r, c);
    return DOF + a * (2u * DOF - a + 1u) / 2u + (b - a);
}

bool positive_definite(in double r[OUTPUTS]) {
    double l[DOF][DOF];
    for (uint j = 0u; j < DOF; ++j) {
        precise double pivot = r[packed_index(j, j)];
        for (uint k = 0u; k < j; ++k) pivot -= l[j][k] * l[j][k];
        if (!(pivot > 0.0lf)) return false;
        l[j][j] = sqrt(pivot);
        for (uint i = j + 1u; i < DOF; ++i) {
            precise double entry = r[packed_index(i, j)];
            for (uint k = 0u; k < j; ++k) entry -= l[i][k] * l[j][k];
            l[i][j] = entry / l[j][j];
        }
    }
    return true;
}

void project(inout double r[OUTPUTS]) {
    for (uint k = DOF; k < OUTPUTS; ++k) {
        if (isnan(r[k]) || isinf(r[k])) return;
    }
    if (positive_definite(r)) return;
    // Jacobi's rotations, round by round.
    double a[DOF][DOF], axes[DOF][DOF];
    for (uint i = 0u; i < DOF; ++i) {
        for (uint j = 0u; j < DOF; ++j) {
            a[i][j] = r[packed_index(i, j)];
            axes[i][j] = i == j ? 1.0lf : 0.0lf;
        }
    }
    for (uint round = 0u; round < 24u; ++round) {
        double rest = 0.0lf, size = 0.0lf;
        for (uint i = 0u; i < DOF; ++i) {
            size += abs(a[i][i]);
            for (uint j = i + 1u; j < DOF; ++j) rest += abs(a[i][j]);
        }
        if (rest <= 1e-17lf * size) break;
        for (uint p = 0u; p + 1u < DOF; ++p) {
            for (uint q = p + 1u; q < DOF; ++q) {
                if (a[p][q] == 0.0lf) continue;
                precise double tau = (a[q][q] - a[p][p]) / (2.0lf * a[p][q]);
                precise double t = (tau < 0.0lf ? -1.0lf : 1.0lf) / (abs(tau) + sqrt(1.0lf + tau * tau));
                precise double c = 1.0lf / sqrt(1.0lf + t * t);
                precise double s = t * c;
                for (uint k = 0u; k < DOF; ++k) {
                    precise double u = a[k][p], v = a[k][q];
                    a[k][p] = c * u - s * v;
                    a[k][q] = s * u + c * v;
                }
                for (uint k = 0u; k < DOF; ++k) {
                    precise double u = a[p][k], v = a[q][k];
                    a[p][k] = c * u - s * v;
                    a[q][k] = s * u + c * v;
                    u = axes[k][p];
                    v = axes[k][q];
                    axes[k][p] = c * u - s * v;
                    axes[k][q] = s * u + c * v;
                }
                a[p][q] = 0.0lf;
                a[q][p] = 0.0lf;
            }
        }
    }
    for (uint i = 0u; i < DOF; ++i) {
        for (uint j = i; j < DOF; ++j) {
            precise double sum = 0.0lf;
            for (uint k = 0u; k < DOF; ++k) {
                double value = PSD == 1u ? max(a[k][k], 0.0lf) : abs(a[k][k]);
                sum += axes[i][k] * value * axes[j][k];
            }
            r[packed_index(i, j)] = sum;
        }
    }
}
