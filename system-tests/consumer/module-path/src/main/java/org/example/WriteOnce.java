package org.example;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;
import static org.jrdma.verbs.QueuePairOptions.reliable;

import module org.jrdma.verbs;

import java.io.IOException;

/** Writes a text from one memory region to another one by RDMA on the software fabric. */
final class WriteOnce {

    void main() throws IOException {
        try (var device = Verbs.software().open("soft0");
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE, REMOTE_WRITE);
                var completions = device.newCompletionDispatcher(32);
                var here = domain.newQueuePair(reliable(completions).sends(8).receives(8));
                var there = domain.newQueuePair(reliable(completions).sends(8).receives(8))) {
            here.connect(there.endpoint());
            there.connect(here.endpoint());

            var source = memory.region(64);
            var target = memory.region(64);
            source.segment().setString(0, "Saluton, mondo");
            here.write(source.slice(0, 15), target.remote()).await(ofSeconds(5));
            IO.println("written: " + target.segment().getString(0));
        }
    }
}
