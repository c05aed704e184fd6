// The numbers that conjugate gradients carry from kernel to kernel, so that the host need not wait for each of them.

struct Scalars {
    double rz;          // r . z
    double alpha;
    double beta;
    double rr;          // r . r
    double goal;        // r . r at which it is done
    uint iterations;
    uint done;          // 1: converged; 2: not positive definite; nothing moves any more
};
