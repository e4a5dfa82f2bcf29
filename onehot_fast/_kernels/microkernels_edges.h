/* Numbers are binned: how many sorted edges are at most as large as each.
 * Included by microkernels_body.h once for each instruction set. */

/* Few edges are all compared. Among more a step of the search is a multiplication instead of a branch, which would be
 * guessed wrong half of the time, and all values of a block take it together: none waits for the step before. ns for a
 * value among 9, 32, 99 edges (Zen 3): 5.1, 6.0, 8.7 with SSE2; 1.1, 3.1, 4.0 with AVX2, which gathers. */
#if OHF_ISA == OHF_ISA_AVX2 || OHF_ISA == OHF_ISA_AVX512
#  define OHF_FEW_EDGES 32
#else
#  define OHF_FEW_EDGES 8
#endif

static void OHF(count_edges)(const double *restrict values, size_t n, const double *restrict edges, size_t n_edges,
                             int32_t *restrict counts)
{
    double sums[OHF_EDGES_BLOCK];   /* as wide as the values, so that both fill vectors alike */
    size_t left = n_edges;
    if (n_edges <= OHF_FEW_EDGES) {
        for (size_t i = 0; i < n; i++)
            sums[i] = 0;
        for (size_t k = 0; k < n_edges; k++) {
            const double edge = edges[k];
            for (size_t i = 0; i < n; i++)
                sums[i] += values[i] < edge ? 0.0 : 1.0;
        }
        for (size_t i = 0; i < n; i++)
            counts[i] = (int32_t)sums[i];
        return;
    }
    for (size_t i = 0; i < n; i++)
        counts[i] = 0;
    while (left > 0) {
        const size_t half = (left + 1) / 2;
        const double *middle = edges + half - 1;
        for (size_t i = 0; i < n; i++)
            counts[i] += (int32_t)half * !(values[i] < middle[counts[i]]);
        left -= half;
    }
}

#undef OHF_FEW_EDGES
