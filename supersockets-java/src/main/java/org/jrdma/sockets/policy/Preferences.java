package org.jrdma.sockets.policy;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Supplier;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.model.Transport;
import org.jspecify.annotations.Nullable;

/**
 * The transports that a stream or a listener may use, in order of preference. A program can specify
 * the transports. Otherwise, the first rule of the policy file that matches the address specifies
 * them. If no rule matches, the system property {@code jrdma.sockets.transports} specifies them.
 * Safe for use by multiple threads.
 */
public final class Preferences {

    private final Supplier<TransportList> source;
    private final @Nullable ReloadablePolicyFile policy;

    /**
     * The transports for addresses without a rule; null until they are first requested. The system
     * property is not read in the constructor, because an invalid value would then make the
     * initialization of {@link Configured} fail.
     */
    private volatile @Nullable TransportList standard;

    private Preferences(Supplier<TransportList> source, @Nullable ReloadablePolicyFile policy) {
        this.source = source;
        this.policy = policy;
    }

    /** Returns the preferences that the policy file and the system property specify. */
    public static Preferences configured() {
        return Configured.PREFERENCES;
    }

    private static final class Configured {
        static final Preferences PREFERENCES =
                new Preferences(TransportList::configured, ReloadablePolicyFile.configured());
    }

    /** Returns the preferences that a program specifies. The policy file is ignored. */
    public static Preferences of(List<Transport> preferred) {
        var transports = TransportList.of(preferred);
        return new Preferences(() -> transports, null);
    }

    /**
     * Returns preferences that follow a policy file.
     *
     * @param standard the transports for addresses that no rule of the policy matches
     */
    public static Preferences of(TransportList standard, ReloadablePolicyFile policy) {
        return new Preferences(() -> standard, policy);
    }

    /**
     * Returns the transports for an address without a rule in the policy, or for a channel whose
     * address is not known yet.
     */
    public TransportList standard() {
        var transports = standard;
        if (transports == null) {
            transports = source.get();
            standard = transports;
        }
        return transports;
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

    /**
     * Reads the policy file, even if it has not changed. Does nothing if there is no policy file.
     *
     * @throws FabricException if the file is missing or malformed; the previous rules remain in
     *     effect
     */
    public void reload() throws FabricException {
        if (policy != null) {
            policy.reload();
        }
    }
}
