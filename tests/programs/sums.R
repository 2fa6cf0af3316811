# SPDX-License-Identifier: BSD-3-Clause
# Sums of doubles, as Rmpi has them.
library(Rmpi)
rank <- mpi.comm.rank(0)
ranks <- mpi.comm.size(0)
x <- sin(rank + seq_len(20000))
for (i in 1:5) y <- mpi.allreduce(x, type = 2, op = "sum", comm = 0)
exact <- Reduce(`+`, lapply(seq_len(ranks) - 1, function(r) sin(r + seq_len(20000))))
if (rank == 0) cat("error", sqrt(sum((y - exact)^2) / sum(exact^2)), "\n")
mpi.quit()
