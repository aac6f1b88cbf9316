package org.jrdma.benchmarks;

import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.QueuePairAttributes;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures an asynchronous operation whose completion the caller awaits, and a guarded call that
 * reports errors by errno.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class AwaitBenchmark {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private Device device;
    private AsyncQueuePair queuePair;
    private MemorySlice local;
    private RemoteMemory remote;

    @Setup
    public void open() throws FabricException {
        device = NullProvider.instance().verbs().open(NullProvider.DEVICE);
        var domain = device.newProtectionDomain();
        queuePair = domain.newQueuePair(reliable(device.newCompletionDispatcher(64)));
        queuePair.connect(queuePair.endpoint());
        var region = domain.newArena(LOCAL_WRITE, REMOTE_WRITE).region(64);
        local = region.slice();
        remote = region.remote();
    }

    @TearDown
    public void close() {
        device.close();
    }

    /**
     * Posts a write and awaits its completion. The thread of the completion dispatcher polls, which
     * costs two thread switches.
     */
    @Benchmark
    public Completion writeAndAwait() throws IOException {
        return queuePair.write(local, remote).await(TIMEOUT);
    }

    /** Calls {@code ibv_query_qp}: a guarded call with an arena and captured errno. */
    @Benchmark
    public QueuePairAttributes query() throws VerbsException {
        return queuePair.query();
    }
}
