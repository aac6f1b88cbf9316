package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.model.VerbsException;

/**
 * A rule in force, by which a queue pair receives packets; see {@link QueuePair#newFlow}.
 *
 * <p>Owned by its queue pair, and by the counters that count it, and closed with either. Safe for
 * use by several threads. In C: {@code struct ibv_flow}; {@link #close()} is {@code
 * ibv_destroy_flow}.
 */
public final class Flow extends NativeObject {

    Flow(QueuePair queuePair, int port, FlowRule rule) throws VerbsException {
        this(make(queuePair, port, rule));
    }

    private Flow(Made made) {
        super(made.address, made.lifetime);
    }

    private record Made(MemorySegment address, Lifetime lifetime) {}

    private static String advice(int errno) {
        return switch (errno) {
            case Errno.EPERM -> "Flows need the capability CAP_NET_RAW.";
            case Errno.EOPNOTSUPP -> "The device has no flows, or none of this kind.";
            default -> "";
        };
    }

    private static Made make(QueuePair queuePair, int port, FlowRule asked) throws VerbsException {
        var rule = asked.copy(); // the caller may change his meanwhile
        var device = queuePair.device();
        var functions = device.library().flows();
        var owners = new ArrayList<>(List.of(queuePair.ownLifetime()));
        rule.counters()
                .ifPresent(counters -> {
                    if (counters.device() != device) {
                        throw new IllegalArgumentException(
                                "%s are of another device than %s".formatted(counters, queuePair));
                    }
                    owners.add(counters.ownLifetime());
                });
        Lifetime.holdAll(owners);
        try {
            var address =
                    PlatformCalls.call(() ->
                            functions.create(
                                    device.context(),
                                    queuePair.address(),
                                    rule,
                                    rule.headers(),
                                    port,
                                    new Attempt(
                                            "ibv_create_flow",
                                            () -> "for %s of %s".formatted(rule, queuePair),
                                            Flow::advice)));
            var name = "flow %x of %s".formatted(address.address(), queuePair);
            return new Made(
                    address,
                    new Lifetime(
                            name,
                            owners,
                            () ->
                                    functions.destroy(
                                            device.context(),
                                            address,
                                            Attempt.to("ibv_destroy_flow", () -> "for " + name))));
        } finally {
            owners.forEach(Lifetime::release);
        }
    }
}
