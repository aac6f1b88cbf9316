package org.jrdma.verbs.flow;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.HeldCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.model.VerbsException;

/**
 * A flow rule in force, by which a queue pair receives packets; see {@link
 * org.jrdma.verbs.QueuePair#newFlow}.
 *
 * <p>Owned by its queue pair and by the counters that count it, and closed with either. Safe for
 * use by multiple threads. In C: {@code struct ibv_flow}; {@link #close()} is {@code
 * ibv_destroy_flow}.
 */
public final class Flow extends NativeObject {

    private Flow(NativeResource flow) {
        super(flow.address(), flow.lifetime());
    }

    static Flow create(DeviceHandle device, NativeResource queuePair, int port, FlowRule rule)
            throws VerbsException {
        var wanted = rule.wanted(); // as it is now: the caller may change the rule meanwhile
        var functions = device.library().flows();
        var owners = new ArrayList<>(List.of(queuePair.lifetime()));
        rule.counters()
                .ifPresent(counters -> {
                    if (counters.device() != device) {
                        throw new IllegalArgumentException(
                                "%s are of another device than %s"
                                        .formatted(counters, queuePair.lifetime()));
                    }
                    owners.add(counters.ownLifetime());
                });
        var context = device.context();
        return HeldCalls.call(
                owners,
                () -> {
                    var address =
                            functions.create(
                                    context,
                                    queuePair.address(),
                                    wanted,
                                    port,
                                    new Attempt(
                                            "ibv_create_flow",
                                            () ->
                                                    "for %s of %s"
                                                            .formatted(rule, queuePair.lifetime()),
                                            Flow::advice));
                    var name = "flow %x of %s".formatted(address.address(), queuePair.lifetime());
                    return new Flow(
                            NativeResource.of(
                                    address,
                                    name,
                                    owners,
                                    "ibv_destroy_flow",
                                    (made, attempt) -> functions.destroy(context, made, attempt)));
                });
    }

    private static String advice(int errno) {
        return switch (errno) {
            case Errno.EPERM -> "Flows need the capability CAP_NET_RAW.";
            case Errno.EOPNOTSUPP -> "The device has no flows, or none of this kind.";
            default -> "";
        };
    }
}
