package org.jrdma.tck.software;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.QueuePairOptions.reliable;

import java.net.InetSocketAddress;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;

/**
 * A program that does not close a listener, both ends of a connection, a route and a connect
 * request, and runs the garbage collector, so that these leaks are reported.
 */
final class LeakedConnections {

    private LeakedConnections() {}

    static void main() throws Exception {
        try (var device = Verbs.software().openFirst()) {
            connectAndForget(device);
            while (true) { // The process waits here until it is killed.
                System.gc();
                Thread.sleep(20);
            }
        }
    }

    private static void connectAndForget(Device device) throws Exception {
        var connections = ConnectionManager.software();
        var domain = device.newProtectionDomain();
        var options = ConnectionOptions.of(reliable(device.newCompletionDispatcher(1024)));
        var here = device.gids(1).getFirst().gid().ipv4().orElseThrow();
        var listener = connections.listen(new InetSocketAddress(here, 0));
        var there = listener.localAddress();
        var connecting = connections.connectAsync(there, domain, options, ofSeconds(60));
        listener.accept(domain, options, ofSeconds(60));
        connecting.get();
        connections.resolve(there, ofSeconds(60));
        var _ = connections.connectAsync(there, domain, options, ofSeconds(60));
        listener.next(ofSeconds(60));
    }
}
