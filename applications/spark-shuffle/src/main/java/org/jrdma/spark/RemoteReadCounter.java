package org.jrdma.spark;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Counts the blocks that tasks have read from other executors, according to Spark's metrics. */
final class RemoteReadCounter extends SparkListener {

    private final LongAdder blocks = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final CountDownLatch jobEnd = new CountDownLatch(1);

    @Override
    public void onTaskEnd(SparkListenerTaskEnd end) {
        var metrics = end.taskMetrics();
        if (metrics != null) {
            blocks.add(metrics.shuffleReadMetrics().remoteBlocksFetched());
            bytes.add(metrics.shuffleReadMetrics().remoteBytesRead());
        }
    }

    @Override
    public void onJobEnd(SparkListenerJobEnd end) {
        jobEnd.countDown();
    }

    /**
     * Waits until Spark has reported the end of a job, and of the tasks that ended before.
     *
     * @return false if the timeout has expired
     */
    boolean awaitJobEnd(Duration timeout) throws InterruptedException {
        return jobEnd.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The remote blocks that the tasks have read, on all paths. */
    long blocks() {
        return blocks.sum();
    }

    /** The bytes of these blocks. */
    long bytes() {
        return bytes.sum();
    }
}
