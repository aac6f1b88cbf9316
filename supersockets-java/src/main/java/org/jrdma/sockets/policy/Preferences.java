package org.jrdma.sockets.policy;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Supplier;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.model.Transport;
import org.jspecify.annotations.Nullable;

/**
 * The transports that a stream may use, in order of preference. They come from the program,
 * otherwise from the policy's rule for the address, otherwise from the system property. Safe for
 * use by multiple threads.
 */
public final class Preferences {

    private final Supplier<TransportList> source;
    private final @Nullable PolicyFile policy;

    /** Read when first needed, so that an invalid property does not prevent the JVM's start. */
    private volatile @Nullable TransportList standard;

    private Preferences(Supplier<TransportList> source, @Nullable PolicyFile policy) {
        this.source = source;
        this.policy = policy;
    }

    /** Returns the preferences of the system properties. */
    public static Preferences configured() {
        return Configured.PREFERENCES;
    }

    private static final class Configured {
        static final Preferences PREFERENCES =
                new Preferences(TransportList::configured, PolicyFile.configured());
    }

    /** Returns preferences that a program specifies; the policy does not apply to them. */
    public static Preferences of(List<Transport> preferred) {
        var transports = TransportList.of(preferred);
        return new Preferences(() -> transports, null);
    }

    /** Returns preferences that use {@code standard} if the policy has no rule. */
    public static Preferences of(TransportList standard, PolicyFile policy) {
        return new Preferences(() -> standard, policy);
    }

    /** Returns the transports for an address that is not known yet. */
    public TransportList standard() {
        var known = standard;
        if (known == null) {
            known = source.get();
            standard = known;
        }
        return known;
    }

    /**
     * Returns the transports for a connection to {@code peer}.
     *
     * @throws FabricException if the policy cannot be read
     */
    public TransportList forPeer(InetSocketAddress peer) throws FabricException {
        return policy == null
                ? standard()
                : policy.current().forPeer(peer).orElseGet(this::standard);
    }

    /**
     * Returns the transports for a listener at {@code address}.
     *
     * @throws FabricException if the policy cannot be read
     */
    public TransportList forListener(InetSocketAddress address) throws FabricException {
        return policy == null
                ? standard()
                : policy.current().forListener(address).orElseGet(this::standard);
    }

    /** Reads the policy file again, even if it has not changed. */
    public void reload() throws FabricException {
        if (policy != null) {
            policy.reload();
        }
    }
}
