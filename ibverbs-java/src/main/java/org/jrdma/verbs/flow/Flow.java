package org.jrdma.verbs.flow;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.handle.GuardedCalls;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.model.VerbsException;

/**
 * A flow rule that is in effect: the device delivers the matching packets to a queue pair; see
 * {@link org.jrdma.verbs.QueuePair#newFlow}.
 *
 * <p>Owned by its queue pair and, if the rule has counters, by these counters. Closed when the
 * queue pair or the counters are closed. Safe for use by multiple threads. In C: {@code struct
 * ibv_flow}; {@link #close()} is {@code ibv_destroy_flow}.
 */
public final class Flow extends NativeObject {

    private Flow(NativeResource flow) {
        super(flow.address(), flow.lifetime());
    }

    static Flow create(DeviceHandle device, NativeResource queuePair, int port, FlowRule rule)
            throws VerbsException {
        var attributes = rule.snapshot(); // A copy, because another thread may change the rule.
        var functions = device.library().flows();
        var owners = new ArrayList<>(List.of(queuePair.lifetime()));
        rule.counters()
                .ifPresent(counters -> {
                    if (counters.device() != device) {
                        throw new IllegalArgumentException(
                                "%s and %s belong to different devices"
                                        .formatted(counters, queuePair.lifetime()));
                    }
                    owners.add(counters.ownLifetime());
                });
        var context = device.context();
        return GuardedCalls.call(
                owners,
                () -> {
                    var address =
                            functions.create(
                                    context,
                                    queuePair.address(),
                                    attributes,
                                    port,
                                    new CheckedCall(
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
                                    (flow, attempt) -> functions.destroy(context, flow, attempt)));
                });
    }

    private static String advice(int errno) {
        return switch (errno) {
            case Errno.EPERM -> "Flow steering requires the capability CAP_NET_RAW.";
            case Errno.EOPNOTSUPP ->
                    "The device does not support flow steering or a flow rule of this kind.";
            default -> "";
        };
    }
}
