package org.jrdma.soft.sisci.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.SoftSisciOptions;

/**
 * A segment of the first node, to which another process of that node has attached by {@code
 * SCIAttachLocalSegment}.
 */
final class AttachedLocalSegmentScenario implements ObjectStateScenario {

    static final Kind KIND =
            new Kind(
                    "attached segment",
                    List.of(
                            "nothing",
                            "not shared",
                            "shared",
                            "attached",
                            "prepared",
                            "available",
                            "unavailable",
                            "mapped",
                            "unmapped",
                            "detached",
                            "removed by its owner"),
                    List.of(
                            "attach",
                            "prepare",
                            "make available",
                            "make unavailable",
                            "share",
                            "map",
                            "unmap",
                            "remove",
                            "wait for event",
                            "close",
                            "prepare as owner",
                            "remove as owner",
                            "connect"),
                    AttachedLocalSegmentScenario::new);

    private static final int ID = 7;
    private static final long BYTES = 8192;

    private final LibraryCaller owner;
    private final LibraryCaller attacher;
    private final LibraryCaller user;
    private final long ownerDescriptor;
    private final long descriptor;
    private final long userDescriptor;
    private long owned;
    private long segment;
    private long map;

    private AttachedLocalSegmentScenario(ThreeNodes nodes) {
        owner = nodes.first;
        attacher = LibraryCaller.in(SoftSisciOptions.in(nodes.folder).node(owner.node()));
        user = nodes.second;
        ownerDescriptor = owner.open();
        descriptor = attacher.open();
        userDescriptor = user.open();
    }

    @Override
    public void reach(String state) {
        switch (state) {
            case "nothing" -> {}
            case "not shared" -> owned = owner.create(ownerDescriptor, ID, BYTES, 0);
            case "shared" -> {
                reach("not shared");
                owner.ok("SCIShareSegment", owned, 0);
            }
            case "attached" -> {
                reach("shared");
                assertThat(attempt("attach")).isEqualTo("OK");
            }
            case "prepared" -> {
                reach("attached");
                attacher.ok("SCIPrepareSegment", segment, 0, 0);
            }
            case "available" -> {
                reach("prepared");
                attacher.ok("SCISetSegmentAvailable", segment, 0, 0);
            }
            case "unavailable" -> {
                reach("available");
                attacher.ok("SCISetSegmentUnavailable", segment, 0, 0);
            }
            case "mapped" -> {
                reach("attached");
                map = attacher.mapLocal(segment, BYTES).handle();
            }
            case "unmapped" -> {
                reach("mapped");
                attacher.ok("SCIUnmapSegment", map, 0);
            }
            case "detached" -> {
                reach("attached");
                attacher.ok("SCIRemoveSegment", segment, 0);
                awaitDetached();
            }
            case "removed by its owner" -> {
                reach("attached");
                owner.ok("SCIRemoveSegment", owned, sisci_h.SCI_FLAG_FORCE_REMOVE());
                assertThat(attacher.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_LOST());
            }
            default -> throw new IllegalArgumentException(state);
        }
    }

    /**
     * Waits until the owner has handled the detach: the owner handles messages in order, and this
     * method waits for the response to a later message.
     */
    private void awaitDetached() {
        var unshared = owner.create(ownerDescriptor, ID + 1, BYTES, 0);
        assertThat(attach(ID + 1)).isEqualTo("ACCESS");
        owner.ok("SCIRemoveSegment", unshared, 0);
    }

    private String attach(int id) {
        var place = attacher.place();
        var error =
                attacher.attempt(
                        "SCIAttachLocalSegment",
                        descriptor,
                        place.address(),
                        id,
                        attacher.place().address(),
                        0,
                        0,
                        0);
        segment = error.equals("OK") ? LibraryCaller.handle(place) : segment;
        return error;
    }

    @Override
    public String attempt(String call) {
        return switch (call) {
            case "attach" -> attach(ID);
            case "prepare" -> attacher.attempt("SCIPrepareSegment", segment, 0, 0);
            case "make available" -> attacher.attempt("SCISetSegmentAvailable", segment, 0, 0);
            case "make unavailable" -> attacher.attempt("SCISetSegmentUnavailable", segment, 0, 0);
            case "share" -> attacher.attempt("SCIShareSegment", segment, 0);
            case "map" ->
                    attacher.attempt(
                            "SCIMapLocalSegment",
                            segment,
                            attacher.place().address(),
                            0,
                            BYTES,
                            0,
                            0);
            case "unmap" -> attacher.attempt("SCIUnmapSegment", map, 0);
            case "remove" -> attacher.attempt("SCIRemoveSegment", segment, 0);
            case "wait for event" ->
                    attacher.attempt("SCIWaitForLocalSegmentEvent", segment, 0, 0, 1, 0);
            case "close" -> attacher.attempt("SCIClose", descriptor, 0);
            case "prepare as owner" -> owner.attempt("SCIPrepareSegment", owned, 0, 0);
            case "remove as owner" -> owner.attempt("SCIRemoveSegment", owned, 0);
            case "connect" ->
                    user.attempt(
                            "SCIConnectSegment",
                            userDescriptor,
                            user.place().address(),
                            owner.node(),
                            ID,
                            0,
                            0,
                            0,
                            -1,
                            0);
            default -> throw new IllegalArgumentException(call);
        };
    }

    @Override
    public void close() {
        owner.attempt("SCIRemoveSegment", owned, sisci_h.SCI_FLAG_FORCE_REMOVE());
        attacher.close();
    }
}
