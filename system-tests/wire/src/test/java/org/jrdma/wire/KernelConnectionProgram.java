package org.jrdma.wire;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.model.ConnectionVendorOptions;

/**
 * A program that runs at the kernel's end of the wire. It uses the kernel's connection manager, and
 * prints the events of a connection. It accepts a connect request only after a given file has been
 * created.
 */
final class KernelConnectionProgram {

    static final ConnectionVendorOptions OFFERED =
            new ConnectionVendorOptions(0x71_7273, 0x8162_6364);

    private static final Duration TIMEOUT = Duration.ofSeconds(40);

    private KernelConnectionProgram() {}

    /**
     * Arguments: the command ("accept", "connect", or "offer" to connect with vendor options), the
     * IP address, the port, and the path of the file to wait for.
     */
    static void main(String... arguments) throws Exception {
        var address = new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2]));
        var acceptFile = Path.of(arguments[3]);
        if (arguments[0].equals("accept")) {
            accept(address, acceptFile);
        } else {
            connect(address, arguments[0].equals("offer"));
        }
    }

    private static void await(Path file) throws InterruptedException {
        while (!Files.exists(file)) {
            Thread.sleep(10);
        }
    }

    private static void accept(InetSocketAddress address, Path acceptFile) throws Exception {
        try (var device = Verbs.system().open(VethLinkToKernel.KERNEL_DEVICE);
                var listener = ConnectionManager.system().listen(address)) {
            var domain = device.newProtectionDomain();
            var options =
                    ConnectionOptions.of(
                            QueuePairOptions.reliable(device.newCompletionQueue(16))
                                    .sends(1)
                                    .receives(1));
            IO.println("listening");
            try (var request = listener.next(TIMEOUT)) {
                IO.println("requested");
                await(acceptFile);
                request.accept(domain, options, TIMEOUT).close();
                IO.println("accepted");
            } catch (FabricException e) {
                IO.println(e.getClass().getSimpleName() + ": " + e.getMessage());
            }
        }
    }

    /** Sends a connect request, and prints the events up to the reply of the peer. */
    private static void connect(InetSocketAddress address, boolean offers) throws Exception {
        try (var device = Verbs.system().open(VethLinkToKernel.KERNEL_DEVICE);
                var channel = ConnectionManager.system().newEventChannel()) {
            var identifier = channel.newIdentifier(PortSpace.TCP);
            identifier.resolveAddress(address, TIMEOUT);
            print(channel.next(TIMEOUT));
            identifier.resolveRoute(TIMEOUT);
            print(channel.next(TIMEOUT));
            var queuePair =
                    device.newProtectionDomain()
                            .newQueuePair(
                                    QueuePairOptions.reliable(device.newCompletionQueue(16))
                                            .sends(1)
                                            .receives(1));
            if (offers) {
                identifier.vendorOptions(OFFERED);
            }
            identifier.connect(ConnectionParameters.of(queuePair.number(), 1));
            print(channel.next(TIMEOUT));
        }
    }

    private static void print(ConnectionEvent event) {
        IO.println(
                event instanceof ConnectionEvent.Failure failure
                                && !(event instanceof ConnectionEvent.Rejected)
                        ? failure.reason()
                        : event.getClass().getSimpleName());
        if (event instanceof ConnectionEvent.Rejected rejected) {
            IO.println(rejected.reason());
            IO.println(
                    new String(rejected.privateData().bytes(), StandardCharsets.UTF_8)
                            .replace("\0", ""));
        }
    }
}
