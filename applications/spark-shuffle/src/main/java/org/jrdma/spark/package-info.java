/**
 * A plug-in for Apache Spark 4.2 that fetches shuffle blocks by RDMA READ.
 *
 * <p>{@link org.jrdma.spark.RdmaShufflePlugin} is the only class that a user names. Map tasks write
 * their output with Spark's own writers. Executors register the files of the output on demand, and
 * reduce tasks read the blocks in these files from memory of the other executor.
 */
@NullMarked
package org.jrdma.spark;

import org.jspecify.annotations.NullMarked;
