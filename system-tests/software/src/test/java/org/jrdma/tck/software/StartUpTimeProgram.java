package org.jrdma.tck.software;

import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jrdma.verbs.Verbs;

/**
 * A program that executes one RDMA write to its own memory. With an argument, it does nothing, so
 * that the two running times can be compared.
 */
final class StartUpTimeProgram {

    private StartUpTimeProgram() {}

    static void main(String... arguments) throws Exception {
        if (arguments.length == 0) {
            write();
        }
        IO.println("waited " + nanosWithoutProcessor());
    }

    private static void write() throws Exception {
        try (var device = Verbs.software().openFirst();
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE, REMOTE_WRITE);
                var completions = device.newCompletionDispatcher(8);
                var queuePair = domain.newReliableQueuePair(completions)) {
            queuePair.connect(queuePair.endpoint());
            var source = memory.region(64);
            var target = memory.region(64);
            source.segment().setString(0, "written");
            queuePair.write(source.slice(), target.remote()).await(Duration.ofSeconds(10));
            if (!target.segment().getString(0).equals("written")) {
                throw new AssertionError("nothing was written");
            }
        }
    }

    /**
     * Returns the time in nanoseconds for which this thread was ready to run but waited for a
     * processor.
     */
    private static long nanosWithoutProcessor() throws IOException {
        var statistics = Files.readString(Path.of("/proc/thread-self/schedstat"));
        return Long.parseLong(statistics.split(" ", -1)[1]);
    }
}
