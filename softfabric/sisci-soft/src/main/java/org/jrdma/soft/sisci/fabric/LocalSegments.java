package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.control.Connection;
import org.jrdma.soft.sisci.control.Message;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jrdma.soft.sisci.host.Mapping;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.jspecify.annotations.Nullable;

/** The segments that this process has created, by id. Safe for use by multiple threads. */
public final class LocalSegments {

    private static final int CREATE_FLAGS =
            SCI_FLAG_USE_CALLBACK()
                    | SCI_FLAG_EMPTY()
                    | SCI_FLAG_PRIVATE()
                    | SCI_FLAG_BROADCAST()
                    | SCI_FLAG_ALLOW_UNICAST()
                    | SCI_FLAG_AUTO_ID()
                    | SCI_FLAG_DMA_GLOBAL();

    /** If so many requests of a process wait, its further requests are refused. */
    private static final int MAX_WAITING = 128;

    private final ProcessContext context;
    private final PeerLookupAndRequests fabric;
    private final Map<Integer, CreatedSegment> byId = new ConcurrentHashMap<>();
    private final PerConnectionExecutor operations;

    LocalSegments(ProcessContext context) {
        this.context = context;
        this.operations = new PerConnectionExecutor(context.workers());
        this.fabric = context.fabric();
    }

    /** Creates a segment. In C: {@code SCICreateSegment}. */
    public CreatedSegment create(
            SciDescriptor descriptor,
            int id,
            long bytes,
            EventQueue.@Nullable Callback<SegmentEvent> callback,
            int flags) {
        FlagChecks.checkAllowed(flags, CREATE_FLAGS);
        var empty = FlagChecks.has(flags, SCI_FLAG_EMPTY());
        var automatic = FlagChecks.has(flags, SCI_FLAG_AUTO_ID());
        var inGroup = FlagChecks.has(flags, SCI_FLAG_BROADCAST());
        throwIf(
                inGroup && (automatic || FlagChecks.has(flags, SCI_FLAG_PRIVATE())),
                SCI_ERR_ILLEGAL_FLAG());
        throwIf(
                FlagChecks.has(flags, SCI_FLAG_ALLOW_UNICAST()) && !inGroup,
                SCI_ERR_ILLEGAL_FLAG());
        throwIf(
                inGroup && Integer.compareUnsigned(id, Topology.MAX_GROUPS) >= 0,
                SCI_ERR_OUT_OF_RANGE());
        throwIf(!empty && bytes <= 0, SCI_ERR_SIZE_ALIGNMENT());
        var segment =
                descriptor.add(() -> {
                    var created =
                            create(descriptor, id, automatic, empty ? 0 : bytes, callback, flags);
                    if (!empty) {
                        created.map(bytes);
                    }
                    return created;
                });
        try {
            byId.put(segment.id(), segment);
            context.topology().add(segment);
            return segment;
        } catch (Throwable e) {
            segment.remove(SCI_FLAG_FORCE_REMOVE());
            throw e;
        }
    }

    private CreatedSegment create(
            SciDescriptor descriptor,
            int id,
            boolean automatic,
            long bytes,
            EventQueue.@Nullable Callback<SegmentEvent> callback,
            int flags)
            throws FabricException {
        return fabric.directory()
                .locked(() -> {
                    var entry = freeEntry(id, automatic);
                    var file = fabric.directory().createMemory(entry, Mapping.wholePages(bytes));
                    try {
                        var events = new EventQueue<SegmentEvent>(context.callbacks(), callback);
                        return new CreatedSegment(this, descriptor, entry, file, flags, events);
                    } catch (Throwable e) {
                        SystemCalls.close(file);
                        fabric.directory().delete(entry);
                        throw e;
                    }
                });
    }

    private ObjectAnnouncementFile freeEntry(int id, boolean automatic) throws FabricException {
        var free = id;
        while (isUsed(free)) {
            if (automatic) {
                free++;
            } else {
                fabric.directory().sweep(); // The process that owns the file may have been killed.
                throwIf(isUsed(free), SCI_ERR_SEGMENTID_USED());
            }
        }
        return new ObjectAnnouncementFile(
                fabric.node(), ObjectAnnouncementFile.Kind.SEGMENT, free, fabric.number());
    }

    private boolean isUsed(int id) throws FabricException {
        return fabric.directory()
                .find(fabric.node(), ObjectAnnouncementFile.Kind.SEGMENT, id)
                .isPresent();
    }

    void remove(CreatedSegment segment) {
        context.topology().remove(segment);
        byId.remove(segment.id(), segment);
    }

    void received(Connection from, Message message) {
        switch (message.kind()) {
            case CONNECT_SEGMENT ->
                    handle(
                            from,
                            message,
                            segment ->
                                    segment.connect(
                                            from,
                                            message,
                                            message.second(),
                                            message.first(),
                                            message.value() != 0));
            case ATTACH_SEGMENT ->
                    handle(
                            from,
                            message,
                            segment -> segment.attach(from, message, message.first()));
            case SEGMENT_OPERATION -> // may wait for responses of other processes
                    PeerLookupAndRequests.handle(
                            from,
                            message,
                            () ->
                                    operations.add(
                                            from,
                                            MAX_WAITING,
                                            () ->
                                                    handle(
                                                            from,
                                                            message,
                                                            segment ->
                                                                    apply(
                                                                            from, message,
                                                                            segment))));
            case FIND_SPACE ->
                    PeerLookupAndRequests.respond(from, message, () -> segmentAt(message.value()));
            case DISCONNECT_SEGMENT, DETACH_SEGMENT ->
                    byId.values().forEach(segment -> segment.forget(from, message.subject()));
            case FLAG_STORED ->
                    byId.values()
                            .forEach(segment ->
                                    segment.stored(
                                            from,
                                            message.subject(),
                                            message.value(),
                                            message.first() != 0));
            default -> throw new AssertionError(message);
        }
    }

    private static void apply(Connection from, Message message, CreatedSegment segment) {
        var operation = LocalSegment.Operation.of(message.first());
        segment.apply(operation, message.second(), (int) message.value());
        from.respond(message, SCI_ERR_OK(), 0);
    }

    private void handle(Connection from, Message message, Consumer<CreatedSegment> action) {
        PeerLookupAndRequests.handle(
                from,
                message,
                () -> {
                    var segment = byId.get(message.subject());
                    throwIf(segment == null, SCI_ERR_NO_SUCH_SEGMENT());
                    action.accept(segment);
                });
    }

    private long segmentAt(long address) {
        return byId.values().stream()
                .filter(segment -> segment.isAt(address))
                .findFirst()
                .orElseThrow(() -> new SciException(SCI_ERR_CONNECTION_REFUSED()))
                .id();
    }

    void lost(Connection connection) {
        byId.values().forEach(segment -> segment.lost(connection));
    }
}
