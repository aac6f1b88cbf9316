package org.jrdma.sockets.transport;

import java.util.Optional;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.SocketCalls;

/**
 * Stream sockets of the kernel's, which differ by the number of their address family alone.
 *
 * @param ipv4 the number, and the protocol beside it, for addresses of IPv4
 * @param ipv6 the same for those of IPv6
 * @param advice what to do where the kernel does not know the family
 */
public record FamilyTransport(String name, Domain ipv4, Domain ipv6, String advice)
        implements StreamTransport {

    private static final Domain IPV4_ALONE =
            () -> {
                throw new FabricException("for IPv4 alone");
            };

    public static final FamilyTransport TCP =
            new FamilyTransport(
                    "tcp",
                    () -> new Numbers(SocketCalls.AF_INET, 0),
                    () -> new Numbers(SocketCalls.AF_INET6, 0),
                    "");

    public static final FamilyTransport SMC =
            new FamilyTransport(
                    "smc",
                    () -> new Numbers(SocketCalls.AF_SMC, 0),
                    () -> new Numbers(SocketCalls.AF_SMC, 1),
                    ": this kernel has no sockets over RDMA, or not loaded; try modprobe smc");

    public static final FamilyTransport SUPERSOCKETS =
            supersockets(FamilyNumber.publishedByDriver());

    /** Between processes of this machine; not one that can be preferred to others. */
    public static final FamilyTransport UNIX =
            new FamilyTransport("unix", () -> new Numbers(SocketCalls.AF_UNIX, 0), IPV4_ALONE, "");

    public static FamilyTransport supersockets(FamilyNumber family) {
        return new FamilyTransport(
                "supersockets",
                () -> new Numbers(family.read(), 0),
                IPV4_ALONE,
                ": the driver that publishes this family is not loaded");
    }

    /** Finds out the number of a family, or says why there is none. */
    @FunctionalInterface
    interface Domain {
        Numbers find() throws FabricException;
    }

    /** What socket(2) is given. */
    record Numbers(int family, int protocol) {}

    /** Makes a socket; the message of a refusal is a reason, to be read after the name. */
    public int open(InternetFamily family) throws FabricException {
        var number = (family.isIpv6() ? ipv6 : ipv4).find();
        var descriptor =
                SocketCalls.socket(number.family, SocketCalls.SOCK_STREAM, number.protocol);
        if (descriptor < 0) {
            throw refused(number.family, -descriptor);
        }
        return descriptor;
    }

    /** Whether addresses of this family can be reached at all. */
    public boolean reaches(InternetFamily family) {
        return !family.isIpv6() || ipv6 != IPV4_ALONE;
    }

    /** Whether its sockets have a family of this number. */
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

    private FabricException refused(int family, int errno) {
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
