package org.jrdma.sockets.transport;

import java.util.Optional;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.SocketCalls;

/**
 * A transport over stream sockets of the kernel, identified by the address family of the sockets.
 *
 * @param name the name of the transport
 * @param ipv4 determines the arguments of socket(2) for IPv4 addresses
 * @param ipv6 determines the arguments of socket(2) for IPv6 addresses
 * @param advice the cause and the fix, appended to the error message if the kernel does not support
 *     the address family
 */
public record KernelTransport(String name, Domain ipv4, Domain ipv6, String advice)
        implements StreamTransport {

    private static final Domain IPV4_ONLY =
            () -> {
                throw new FabricException("supports only IPv4");
            };

    public static final KernelTransport TCP =
            new KernelTransport(
                    "tcp",
                    () -> new Numbers(SocketCalls.AF_INET, 0),
                    () -> new Numbers(SocketCalls.AF_INET6, 0),
                    "");

    public static final KernelTransport SMC =
            new KernelTransport(
                    "smc",
                    () -> new Numbers(SocketCalls.AF_SMC, 0),
                    () -> new Numbers(SocketCalls.AF_SMC, 1),
                    ": the kernel has no SMC support, or the module is not loaded; try \"modprobe smc\"");

    public static final KernelTransport SUPERSOCKETS =
            supersockets(SuperSocketsFamilyNumber.publishedByDriver());

    /** Kernel sockets of Unix domain. Programs cannot select this transport. */
    public static final KernelTransport UNIX =
            new KernelTransport("unix", () -> new Numbers(SocketCalls.AF_UNIX, 0), IPV4_ONLY, "");

    public static KernelTransport supersockets(SuperSocketsFamilyNumber family) {
        return new KernelTransport(
                "supersockets",
                () -> new Numbers(family.read(), 0),
                IPV4_ONLY,
                ": the driver that publishes this family is not loaded");
    }

    @FunctionalInterface
    interface Domain {
        Numbers find() throws FabricException;
    }

    /** The arguments of socket(2): the address family and the protocol. */
    record Numbers(int family, int protocol) {}

    /**
     * Opens a stream socket and returns its descriptor.
     *
     * @throws FabricException if the transport cannot be used; the message is the reason
     */
    public int open(InternetFamily family) throws FabricException {
        var number = (family.isIpv6() ? ipv6 : ipv4).find();
        var descriptor =
                SocketCalls.socket(number.family, SocketCalls.SOCK_STREAM, number.protocol);
        if (descriptor < 0) {
            throw failure(number.family, -descriptor);
        }
        return descriptor;
    }

    /** Returns true if the transport supports the addresses of {@code family}. */
    public boolean reaches(InternetFamily family) {
        return !family.isIpv6() || ipv6 != IPV4_ONLY;
    }

    /** Returns true if the sockets of this transport have the address family {@code number}. */
    public boolean isFamily(int number) {
        return isFamily(ipv4, number) || isFamily(ipv6, number);
    }

    private static boolean isFamily(Domain domain, int number) {
        try {
            return domain.find().family == number;
        } catch (FabricException _) {
            return false;
        }
    }

    private FabricException failure(int family, int errno) {
        var hint = errno == Errno.EAFNOSUPPORT || errno == Errno.EPROTONOSUPPORT ? advice : "";
        return new FabricException(
                "address family %d: %s%s".formatted(family, Errno.describe(errno), hint),
                errno,
                null);
    }

    @Override
    public Optional<String> whyNot() {
        try {
            SocketCalls.close(open(InternetFamily.IPV4));
            return Optional.empty();
        } catch (FabricException e) {
            return Optional.of(e.getMessage());
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
