package org.jrdma.benchmarks;

import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.model.DeviceOpenOption;
import org.jrdma.verbs.model.VerbsException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures posts and polls of polled queue pairs. {@link NativeComparison} compares them with C.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class HotPathBenchmark {

    @Param({"false", "true"})
    public boolean critical;

    private PostAndPollLoop loop;

    @Setup
    public void open() throws FabricException {
        loop =
                critical
                        ? new PostAndPollLoop(DeviceOpenOption.CRITICAL_CALLS)
                        : new PostAndPollLoop();
    }

    @TearDown
    public void close() {
        loop.close();
    }

    @Benchmark
    public long writeAndPoll() throws VerbsException {
        return loop.writeAndPoll(1);
    }

    @Benchmark
    public long receiveAndPoll() throws VerbsException {
        return loop.receiveAndPoll(1);
    }

    @Benchmark
    public long sharedReceiveAndPoll() throws VerbsException {
        return loop.sharedReceiveAndPoll(1);
    }

    @Benchmark
    public long datagramAndPoll() throws VerbsException {
        return loop.datagramAndPoll(1);
    }

    @Benchmark
    public long extendedWriteAndPoll() throws VerbsException {
        return loop.extendedWriteAndPoll(1);
    }

    /** Measures the time of one request in a chain. */
    @Benchmark
    @OperationsPerInvocation(PostAndPollLoop.BATCH)
    public long extendedChainAndPoll() throws VerbsException {
        return loop.extendedChainAndPoll(1);
    }

    /** Measures the time of one request in a chain. */
    @Benchmark
    @OperationsPerInvocation(PostAndPollLoop.BATCH)
    public long chainAndPoll() throws VerbsException {
        return loop.chainAndPoll(1);
    }
}
