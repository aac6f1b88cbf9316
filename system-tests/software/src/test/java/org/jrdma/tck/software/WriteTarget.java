package org.jrdma.tck.software;

import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.Endpoint;

/**
 * A program that permits a peer to write to its memory, and does nothing else until the process is
 * killed.
 */
final class WriteTarget {

    private WriteTarget() {}

    static void main() throws Exception {
        try (var device = Verbs.software().openFirst();
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE, REMOTE_WRITE);
                var completions = device.newCompletionDispatcher(4);
                var queuePair = domain.newReliableQueuePair(completions)) {
            IO.println(queuePair.endpoint() + " " + memory.region(64).remote());
            queuePair.connect(Endpoint.parse(IO.readln()));
            IO.println("connected");
            IO.readln();
        }
    }
}
