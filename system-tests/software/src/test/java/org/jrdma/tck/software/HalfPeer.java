package org.jrdma.tck.software;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.QueuePairOptions.reliable;

import java.net.InetSocketAddress;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;

/**
 * A program that stops in the middle of a handshake and waits to be killed. Without arguments, it
 * receives a connect request and does not answer it. With an address and a port, it sends a connect
 * request.
 */
final class HalfPeer {

    private HalfPeer() {}

    static void main(String... arguments) throws Exception {
        var connections = ConnectionManager.software();
        try (var device = Verbs.software().openFirst();
                var domain = device.newProtectionDomain();
                var completions = device.newCompletionDispatcher(4)) {
            if (arguments.length > 0) {
                var peer = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
                var options = ConnectionOptions.of(reliable(completions));
                connections.connect(peer, domain, options, ofSeconds(60));
                return;
            }
            var here = device.gids(1).getFirst().gid().ipv4().orElseThrow();
            try (var listener = connections.listen(new InetSocketAddress(here, 0))) {
                var address = listener.localAddress();
                IO.println(address.getAddress().getHostAddress() + " " + address.getPort());
                try (var _ = listener.next(ofSeconds(60))) {
                    IO.println("request received");
                    IO.readln();
                }
            }
        }
    }
}
