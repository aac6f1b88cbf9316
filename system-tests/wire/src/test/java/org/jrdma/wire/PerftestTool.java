package org.jrdma.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.Mtu;

/** A program of perftest, and the Java code that acts as its peer. */
enum PerftestTool {
    WRITE_BANDWIDTH("ib_write_bw", 65_536, 200) {
        @Override
        void execute(PerftestRun run) throws IOException {
            run.connect();
            run.synchronize();
            if (run.isClient()) {
                var request = run.side().queuePair().prepareWrite(run.local(), run.remote());
                run.side().postAll(request, iterations);
            }
            run.synchronize();
            if (!run.isClient()) {
                assertThat(run.target().mismatch(run.untouched())).isNotNegative();
            }
            run.dialogue().report(bytes, iterations);
            run.end();
        }
    },
    READ_BANDWIDTH("ib_read_bw", 65_536, 200) {
        @Override
        void execute(PerftestRun run) throws IOException {
            run.connect();
            run.synchronize();
            if (run.isClient()) {
                var request = run.side().queuePair().prepareRead(run.local(), run.remote());
                run.side().postAll(request, iterations);
            }
            run.synchronize();
            run.dialogue().report(bytes, iterations);
            run.end();
        }
    },
    ATOMIC_BANDWIDTH("ib_atomic_bw", 8, 1000) {
        @Override
        void execute(PerftestRun run) throws IOException {
            run.target().fill((byte) 0);
            run.connect();
            run.synchronize();
            if (run.isClient()) {
                addSequentially(run);
            }
            run.synchronize();
            if (!run.isClient()) {
                // Each iteration of the program adds 1 to one of the words in the target.
                var sum = run.target().elements(JAVA_LONG).mapToLong(PerftestTool::valueOf).sum();
                assertThat(sum).isEqualTo(iterations);
            }
            run.dialogue().report(bytes, iterations);
            run.end();
        }

        private void addSequentially(PerftestRun run) throws IOException {
            var request =
                    run.side().queuePair().prepareFetchAndAdd(run.local(), run.remote()).delta(1);
            run.side().postAll(request, 1);
            var former = valueOf(run.local().segment());
            run.side().postAll(request, iterations - 1);
            assertThat(valueOf(run.local().segment())).isEqualTo(former + iterations - 1);
        }
    },
    SEND_BANDWIDTH("ib_send_bw", 65_536, 200) {
        @Override
        void execute(PerftestRun run) throws IOException {
            run.connect();
            run.synchronize();
            if (run.isClient()) {
                run.synchronize();
                var request = run.side().queuePair().prepareSend(run.local());
                run.side().postAll(request, iterations);
            } else {
                receive(run);
            }
            run.end();
        }

        private void receive(PerftestRun run) throws IOException {
            var receive = run.side().queuePair().prepareReceive(run.targetSlice());
            while (receive.tryPost()) {
                // The loop fills the receive queue.
            }
            run.synchronize();
            for (var received = 0; received < iterations; ) {
                run.side().awaitAny();
                while (run.side().cursor().next()) {
                    run.side().check();
                    assertThat(run.side().cursor().kind()).isEqualTo(CompletionKind.RECEIVE);
                    assertThat(run.side().cursor().bytes()).isEqualTo(bytes);
                    received++;
                }
                receive.tryPost();
            }
            assertThat(run.target().mismatch(run.untouched())).isNotNegative();
        }
    },
    WRITE_LATENCY("ib_write_lat", 2, 1000) {
        @Override
        void execute(PerftestRun run) throws IOException {
            run.synchronize();
            run.connect();
            run.synchronize();
            var request = run.side().queuePair().prepareWrite(run.local(), run.remote());
            var source = run.local().segment();
            var offset = bytes - 1L;
            var completed = 0;
            for (var i = 1; i <= iterations; i++) {
                if (run.isClient()) { // The server starts.
                    completed += run.awaitByte(offset, (byte) i);
                }
                source.set(JAVA_BYTE, offset, (byte) i);
                run.side().post(request);
                if (!run.isClient()) {
                    completed += run.awaitByte(offset, (byte) i);
                }
            }
            run.side().awaitCompletions(iterations - completed);
        }
    };

    final String command;
    final int bytes;
    final int iterations;

    PerftestTool(String command, int bytes, int iterations) {
        this.command = command;
        this.bytes = bytes;
        this.iterations = iterations;
    }

    /** Runs the protocol from the exchange of keys to the end. */
    abstract void execute(PerftestRun run) throws IOException;

    static long valueOf(MemorySegment segment) {
        return segment.get(JAVA_LONG, 0);
    }

    /** Returns the command line of a program. Both sides must use the same values. */
    List<String> options(Family family, Mtu mtu, List<String> more) {
        var options =
                new ArrayList<>(
                        List.of(
                                command,
                                "-d",
                                VethLinkToKernel.KERNEL_DEVICE,
                                "-x",
                                String.valueOf(family.kernelGid()),
                                "-m",
                                String.valueOf(mtu.bytes()),
                                "-n",
                                String.valueOf(iterations),
                                "-F"));
        options.addAll(more);
        return options;
    }
}
