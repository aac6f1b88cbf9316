package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalInt;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.QueuePairFunctions;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.QueuePairAttributes;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;

/**
 * The end of an extended reliable connection that receives, for whichever shared receive queue of
 * its {@link XrcDomain} a request names. It has neither receives nor completions of its own: those
 * are the queues'. Its peer is a {@link PolledXrcSendQueuePair} or a {@link AsyncXrcSendQueuePair}.
 *
 * <p>Owned by its XRC domain, which others may have open too: they {@linkplain
 * XrcDomain#openReceiveQueuePair open} it as well, and it is there until the last has closed it. In
 * C: {@code IBV_QPT_XRC_RECV}.
 */
public final class XrcReceiveQueuePair extends QueuePair implements ConnectedQueuePair {

    private static final QueuePairFunctions.Capacities NONE =
            new QueuePairFunctions.Capacities(0, 0, 0, 0, 0);

    private final XrcDomain domain;

    private XrcReceiveQueuePair(XrcDomain domain, int port, Made made) {
        super(domain.device(), made, QueuePairType.XRC_RECEIVE, port);
        this.domain = domain;
    }

    static XrcReceiveQueuePair make(XrcDomain domain, int port, OptionalInt gidIndex)
            throws VerbsException {
        var device = domain.device();
        var functions = device.library().queuePairs();
        var attempt =
                Attempt.to(
                        "ibv_create_qp_ex",
                        () ->
                                "for %s in %s"
                                        .formatted(
                                                QueuePairType.XRC_RECEIVE.description(), domain));
        return make(
                domain,
                () -> functions.createReceiving(device.context(), domain.address(), attempt),
                _ -> new Place(port, gidIndex));
    }

    static XrcReceiveQueuePair open(XrcDomain domain, int number) throws VerbsException {
        var device = domain.device();
        var functions = device.library().queuePairs();
        var attempt =
                Attempt.to(
                        "ibv_open_qp", () -> "for queue pair %d in %s".formatted(number, domain));
        var opened =
                make(
                        domain,
                        () ->
                                functions.openReceiving(
                                        device.context(), domain.address(), number, attempt),
                        queuePair ->
                                Place.of(
                                        functions.query(
                                                queuePair,
                                                true,
                                                false,
                                                Attempt.to(
                                                        "ibv_query_qp",
                                                        () -> "for queue pair " + number))));
        try {
            opened.query(); // the state that others have brought it to
            return opened;
        } catch (VerbsException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    /** Where it is: what it was made for, or what others have brought it to. */
    private record Place(int port, OptionalInt gidIndex) {

        /** Of one in RESET nobody has said it yet: the first port, as for a new one. */
        static Place of(QueuePairAttributes attributes) {
            return new Place(
                    Math.max(1, attributes.port()),
                    attributes.address().route().stream()
                            .mapToInt(AddressVector.GlobalRoute::sourceGidIndex)
                            .findFirst());
        }
    }

    /** Finds the place of one that is there. */
    private interface Placing {
        Place of(MemorySegment queuePair) throws VerbsException;
    }

    private static XrcReceiveQueuePair make(
            XrcDomain domain,
            Device.DeviceCall<QueuePairFunctions.Created> creation,
            Placing placing)
            throws VerbsException {
        var device = domain.device();
        var functions = device.library().queuePairs();
        domain.ownLifetime().hold();
        try {
            var address = PlatformCalls.call(creation::run).queuePair();
            var number = QueuePairFunctions.number(address);
            var name = "queue pair %d of %s".formatted(number, device.name());
            var destruction = Attempt.to("ibv_destroy_qp", () -> "for " + name);
            Place place;
            LocalAddress local;
            try {
                place = PlatformCalls.call(() -> placing.of(address));
                local = localAddress(device, place.port, place.gidIndex);
            } catch (VerbsException | RuntimeException | Error e) {
                try {
                    functions.destroy(address, destruction);
                } catch (VerbsException again) {
                    e.addSuppressed(again);
                }
                throw e;
            }
            var forget = device.forgetting(address.address());
            return new XrcReceiveQueuePair(
                    domain,
                    place.port,
                    new Made(
                            address,
                            number,
                            NONE,
                            local,
                            new MulticastGroups(device.library().datagrams(), address, name),
                            device.hotPath(),
                            new Lifetime(
                                    name,
                                    List.of(domain.ownLifetime()),
                                    () -> {
                                        forget.run();
                                        functions.destroy(address, destruction);
                                    })));
        } finally {
            domain.ownLifetime().release();
        }
    }

    /** The XRC domain whose shared receive queues it receives for. */
    public XrcDomain xrcDomain() {
        return domain;
    }

    @Override
    public void connect(Endpoint peer, ConnectOptions options) throws VerbsException {
        connectTo(peer, options);
    }

    /** Its receives are under way at the queues. */
    @Override
    int outstanding() {
        return 0;
    }
}
