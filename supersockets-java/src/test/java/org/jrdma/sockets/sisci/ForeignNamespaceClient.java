package org.jrdma.sockets.sisci;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;

/**
 * A program that runs in another network namespace than a listener, but shares its fabric
 * directory. It claims that it has an address of the namespace of the listener. Arguments: the
 * directory, the address, and the port of the listener.
 */
final class ForeignNamespaceClient {

    private ForeignNamespaceClient() {}

    public static void main(String... arguments) throws Exception {
        var library = new SoftSisci(SoftSisciOptions.in(Path.of(arguments[0])));
        var address = InetAddress.ofLiteral(arguments[1]);
        var listener = new InetSocketAddress(address, Integer.parseInt(arguments[2]));
        var client = new RawClient(SisciStreamNode.open(Sisci.from(library)), listener);
        try {
            client.cookie(address);
            System.out.println("The listener has sent a cookie.");
        } catch (FabricException e) {
            System.out.println("No cookie: " + e.getMessage());
        }
        try (var own = AddressCookies.open(address)) {
            var cookies = new InetSocketAddress(address, own.port());
            var forged = AddressCookies.request(address, cookies, Deadline.NEVER);
            for (var cookie : new long[] {0, -1, forged}) {
                var _ = client.request(new InetSocketAddress(address, 50_000), cookie);
            }
        }
        System.out.println("sent");
        System.exit(0);
    }
}
