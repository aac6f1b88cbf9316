package org.jrdma.interop;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Locale;
import java.util.stream.Stream;
import org.jrdma.examples.AbstractExample;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.model.GidEntry;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/**
 * A program that mirrors a C tool of rdma-core. It has the same options and sends the same data
 * over the network. If a test compares the output of the two programs, the output is also the same.
 */
public abstract class AbstractRdmaCoreToolProgram extends AbstractExample {

    /**
     * Lets numeric options also accept hexadecimal numbers such as 0x10, as {@code strtol} does in
     * the C tools.
     */
    @Override
    protected CommandLine commandLine() {
        return super.commandLine()
                .setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(PortSpace.class, AbstractRdmaCoreToolProgram::portSpace)
                .registerConverter(int.class, AbstractRdmaCoreToolProgram::number)
                .registerConverter(Integer.class, AbstractRdmaCoreToolProgram::number);
    }

    private static PortSpace portSpace(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "tcp" -> PortSpace.TCP;
            case "udp" -> PortSpace.UDP;
            case "ipoib" -> PortSpace.IPOIB;
            case "ib" -> PortSpace.IB;
            default ->
                    throw new TypeConversionException(
                            "\"%s\" is not one of tcp, udp, ipoib and ib".formatted(text));
        };
    }

    private static int number(String text) {
        try {
            return Integer.decode(text);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("\"%s\" is not a whole number".formatted(text));
        }
    }

    /** Returns an exception for an error in the command line, which {@link #run} throws. */
    protected final ParameterException usageError(String message) {
        return new ParameterException(new CommandLine(this), message);
    }

    /**
     * Returns the address of a listener as text, with the name of its device. For the wildcard
     * address, returns the addresses of all RDMA devices of this machine, because each of them
     * reaches the listener.
     */
    protected final String describe(InetSocketAddress listener) throws IOException {
        var listenAddress = listener.getAddress();
        var addresses = new ArrayList<String>();
        for (var description : verbs().devices()) {
            try (var device = verbs().open(description.name())) {
                var gids = new ArrayList<GidEntry>();
                for (var port = 1; port <= device.attributes().ports(); port++) {
                    gids.addAll(device.gids(port));
                }
                // The GIDs of RoCE contain IP addresses. For iWARP, the network interface has them.
                var gidIps = gids.stream().flatMap(gid -> gid.gid().ipv4().stream()).toList();
                (gidIps.isEmpty()
                                ? gids.stream().flatMap(AbstractRdmaCoreToolProgram::ipv4)
                                : gidIps.stream())
                        .distinct()
                        .filter(ip -> listenAddress.isAnyLocalAddress() || listenAddress.equals(ip))
                        .map(InetAddress::getHostAddress)
                        .forEach(ip -> addresses.add("%s (%s)".formatted(ip, device.name())));
            }
        }
        return "port %d of %s"
                .formatted(
                        listener.getPort(),
                        addresses.isEmpty()
                                ? listenAddress.getHostAddress()
                                : String.join(", ", addresses));
    }

    private static Stream<InetAddress> ipv4(GidEntry gid) {
        try {
            var netDevice = NetworkInterface.getByName(gid.netDevice());
            return netDevice == null
                    ? Stream.empty()
                    : netDevice.inetAddresses().filter(Inet4Address.class::isInstance);
        } catch (SocketException _) {
            return Stream.empty();
        }
    }

    /** Rejects the value of an option if it is outside of a range. */
    protected final void checkRange(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw usageError(
                    "%s takes a number from %d to %d, not \"%d\""
                            .formatted(option, min, max, value));
        }
    }
}
