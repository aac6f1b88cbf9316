package org.jrdma.stress.fuzz;

import java.net.InetAddress;
import java.util.List;
import java.util.function.Consumer;

/** A set of libraries that the fuzzer calls. */
interface Target {

    /** The address of the device {@link #KERNEL_DEVICE} in the guest. */
    InetAddress KERNEL_ADDRESS = InetAddress.ofLiteral("10.77.0.1");

    String KERNEL_DEVICE = "rxe0";

    /** Creates the target with this name, as on the command line. */
    static Target named(String name, int instance) throws Exception {
        var address =
                InetAddress.getByAddress(
                        new byte[] {127, 99, (byte) (instance >> 8), (byte) instance});
        return switch (name) {
            case "detector" -> VerbsTarget.detector(address);
            case "roce" -> VerbsTarget.software(address);
            case "sisci" -> new SisciTarget(address);
            case "rxe" -> VerbsTarget.system(KERNEL_DEVICE, KERNEL_ADDRESS);
            case "rsocket", "smc" -> new SocketsTarget(name, KERNEL_ADDRESS);
            default -> new SocketsTarget(name, address);
        };
    }

    /** Returns a class of each module that is called. */
    List<Class<?>> modules();

    /** Returns the local address that calls use. */
    InetAddress address();

    /** Creates connected objects of many types, and passes each of them to the consumer. */
    void seed(Consumer<Object> keep) throws Exception;

    /** Transfers data. Fails if the libraries no longer work. */
    void verify() throws Exception;

    /** Takes the link of the target down and up again, if it has one. */
    default void flapLink() throws Exception {}

    /** Returns true if most other objects are owned by this object, directly or indirectly. */
    boolean isRoot(Object object);

    /** Throws an exception with this message unless a condition holds. */
    static void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }
}
