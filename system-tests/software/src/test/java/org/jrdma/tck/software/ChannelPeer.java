package org.jrdma.tck.software;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionRequest;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.cm.RdmaChannelOptions;

/** A program that accepts one channel and keeps it open until the process is killed. */
final class ChannelPeer {

    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private ChannelPeer() {}

    static void main() throws Exception {
        var device = Verbs.software().openFirst();
        var domain = device.newProtectionDomain();
        var address = device.ipAddress().orElseThrow();
        try (var listener =
                ConnectionManager.software().listen(new InetSocketAddress(address, 0))) {
            IO.println(address.getHostAddress() + " " + listener.localAddress().getPort());
            try (var _ = accept(listener.next(TIMEOUT), domain)) {
                IO.println("accepted");
                IO.readln();
            }
        }
    }

    private static RdmaChannel accept(ConnectionRequest request, ProtectionDomain domain)
            throws Exception {
        return request.acceptChannel(domain, RdmaChannelOptions.DEFAULT, TIMEOUT);
    }
}
