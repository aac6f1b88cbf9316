package org.jrdma.sockets.policy;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Supplier;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.model.Transport;
import org.jspecify.annotations.Nullable;

/**
 * Which transports a stream may take, in which order: what a program has said, or else what the
 * policy has for the address, or else what the system property has. Safe for use by several
 * threads.
 */
public final class Preferences {

    private final Supplier<TransportList> source;
    private final @Nullable PolicyFile policy;

    /** Read when it is first needed, so that a wrong property does not end the JVM's start. */
    private volatile @Nullable TransportList standard;

    private Preferences(Supplier<TransportList> source, @Nullable PolicyFile policy) {
        this.source = source;
        this.policy = policy;
    }

    /** Those of the system properties, for whoever has no others. */
    public static Preferences configured() {
        return Configured.PREFERENCES;
    }

    private static final class Configured {
        static final Preferences PREFERENCES =
                new Preferences(TransportList::configured, PolicyFile.configured());
    }

    /** A program's own, which no policy overrules. */
    public static Preferences of(List<Transport> preferred) {
        var transports = TransportList.of(preferred);
        return new Preferences(() -> transports, null);
    }

    /** These where the policy has no rule. */
    public static Preferences of(TransportList standard, PolicyFile policy) {
        return new Preferences(() -> standard, policy);
    }

    /** For an address that is not known yet. */
    public TransportList standard() {
        var known = standard;
        if (known == null) {
            known = source.get();
            standard = known;
        }
        return known;
    }

    /**
     * For a connection to {@code peer}.
     *
     * @throws FabricException if the policy cannot be read
     */
    public TransportList forPeer(InetSocketAddress peer) throws FabricException {
        return policy == null
                ? standard()
                : policy.current().forPeer(peer).orElseGet(this::standard);
    }

    /** The same for what listens at {@code address}. */
    public TransportList forListener(InetSocketAddress address) throws FabricException {
        return policy == null
                ? standard()
                : policy.current().forListener(address).orElseGet(this::standard);
    }

    /** Reads the policy again, whether it has changed or not. */
    public void reload() throws FabricException {
        if (policy != null) {
            policy.reload();
        }
    }
}
