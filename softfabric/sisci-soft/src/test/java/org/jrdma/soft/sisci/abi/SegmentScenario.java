package org.jrdma.soft.sisci.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.abi.sisci.sisci_h;

/** A segment of the first node, which the second node uses. */
final class SegmentScenario implements ObjectStateScenario {

    static final Kind KIND =
            new Kind(
                    "segment",
                    List.of(
                            "nothing",
                            "created",
                            "private",
                            "private prepared",
                            "empty",
                            "prepared",
                            "available",
                            "unavailable",
                            "shared",
                            "mapped locally",
                            "unmapped locally",
                            "removed",
                            "connected",
                            "unavailable to others",
                            "mapped",
                            "unmapped",
                            "sequenced",
                            "unsequenced",
                            "disconnected",
                            "forced out",
                            "forced out while mapped",
                            "cut off"),
                    List.of(
                            "create",
                            "prepare",
                            "make available",
                            "make unavailable",
                            "share",
                            "attach",
                            "map local",
                            "unmap local",
                            "remove",
                            "wait for local event",
                            "close owner",
                            "connect",
                            "map remote",
                            "create sequence",
                            "start sequence",
                            "check sequence",
                            "remove sequence",
                            "copy",
                            "unmap",
                            "disconnect",
                            "wait for remote event",
                            "close user"),
                    SegmentScenario::new);

    private static final int ID = 7;
    private static final int ABSENT_NODE = 80;
    private static final long BYTES = 8192;

    private final LibraryCaller owner;
    private final LibraryCaller user;
    private final long ownerDescriptor;
    private final long userDescriptor;
    private final int force;
    private final List<Long> localMaps = new ArrayList<>();
    private final List<Long> attachments = new ArrayList<>();
    private long segment;
    private long localMap;
    private long remote;
    private long map;
    private long sequence;
    private boolean isCut;

    private SegmentScenario(ThreeNodes nodes) {
        owner = nodes.first;
        user = nodes.second;
        ownerDescriptor = owner.open();
        userDescriptor = user.open();
        force = owner.constant("SCI_FLAG_FORCE_DISCONNECT");
    }

    @Override
    public void reach(String state) throws Exception {
        switch (state) {
            case "nothing" -> {}
            case "created" -> create(0);
            case "private" -> create(sisci_h.SCI_FLAG_PRIVATE());
            case "empty" -> create(sisci_h.SCI_FLAG_EMPTY());
            case "prepared" -> {
                create(0);
                owner.ok("SCIPrepareSegment", segment, 0, 0);
            }
            case "private prepared" -> {
                create(sisci_h.SCI_FLAG_PRIVATE());
                owner.ok("SCIPrepareSegment", segment, 0, 0);
            }
            case "available" -> {
                reach("prepared");
                owner.ok("SCISetSegmentAvailable", segment, 0, 0);
            }
            case "unavailable" -> {
                reach("available");
                owner.ok("SCISetSegmentUnavailable", segment, 0, 0);
            }
            case "shared" -> {
                create(0);
                owner.ok("SCIShareSegment", segment, 0);
            }
            case "mapped locally" -> {
                create(0);
                attempt("map local");
            }
            case "unmapped locally" -> {
                reach("mapped locally");
                owner.ok("SCIUnmapSegment", localMap, 0);
            }
            case "removed" -> {
                create(0);
                owner.ok("SCIRemoveSegment", segment, 0);
            }
            case "connected" -> {
                reach("available");
                remote = user.connect(userDescriptor, owner.node(), ID);
                assertThat(owner.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_CONNECT());
            }
            case "unavailable to others" -> {
                reach("connected");
                owner.ok("SCISetSegmentUnavailable", segment, 0, 0);
            }
            case "mapped" -> {
                reach("connected");
                map = user.mapRemote(remote, BYTES).handle();
            }
            case "unmapped" -> {
                reach("mapped");
                user.ok("SCIUnmapSegment", map, 0);
            }
            case "sequenced" -> {
                reach("mapped");
                var place = user.place();
                user.ok("SCICreateMapSequence", map, place.address(), 0);
                sequence = LibraryCaller.handle(place);
            }
            case "unsequenced" -> {
                reach("sequenced");
                user.ok("SCIRemoveSequence", sequence, 0);
            }
            case "disconnected" -> {
                reach("connected");
                user.ok("SCIDisconnectSegment", remote, 0);
                assertThat(owner.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_DISCONNECT());
            }
            case "forced out" -> {
                reach("connected");
                forceOut();
            }
            case "forced out while mapped" -> {
                reach("mapped");
                forceOut();
            }
            case "cut off" -> {
                reach("sequenced");
                isCut = true;
                owner.fabric().cutLink(0);
                assertThat(user.remoteEvent(remote)).isEqualTo(sisci_h.SCI_CB_NOT_OPERATIONAL());
                assertThat(owner.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_NOT_OPERATIONAL());
            }
            default -> throw new IllegalArgumentException(state);
        }
    }

    private void create(int flags) {
        segment = owner.create(ownerDescriptor, ID, BYTES, flags);
    }

    private void forceOut() {
        owner.ok("SCISetSegmentUnavailable", segment, 0, force);
        assertThat(owner.localEvent(segment)).isEqualTo(sisci_h.SCI_CB_DISCONNECT());
        assertThat(user.remoteEvent(remote)).isEqualTo(sisci_h.SCI_CB_DISCONNECT());
    }

    @Override
    public String attempt(String call) {
        return switch (call) {
            case "create" -> {
                var place = owner.place();
                var error =
                        owner.attempt(
                                "SCICreateSegment",
                                ownerDescriptor,
                                place.address(),
                                ID,
                                BYTES,
                                0,
                                0,
                                0);
                segment = error.equals("OK") ? LibraryCaller.handle(place) : segment;
                yield error;
            }
            case "prepare" -> owner.attempt("SCIPrepareSegment", segment, 0, 0);
            case "prepare for an illegal adapter" ->
                    owner.attempt("SCIPrepareSegment", segment, 4, 0);
            case "prepare for an absent adapter" ->
                    owner.attempt("SCIPrepareSegment", segment, 1, 0);
            case "make available" -> owner.attempt("SCISetSegmentAvailable", segment, 0, 0);
            case "make unavailable" -> owner.attempt("SCISetSegmentUnavailable", segment, 0, 0);
            case "share" -> owner.attempt("SCIShareSegment", segment, 0);
            case "attach" -> {
                var place = owner.place();
                var error =
                        owner.attempt(
                                "SCIAttachLocalSegment",
                                ownerDescriptor,
                                place.address(),
                                ID,
                                owner.place().address(),
                                0,
                                0,
                                0);
                attachments.add(LibraryCaller.handle(place));
                yield error;
            }
            case "map local" -> {
                var place = owner.place();
                var error =
                        owner.attempt(
                                "SCIMapLocalSegment", segment, place.address(), 0, BYTES, 0, 0);
                localMap = error.equals("OK") ? LibraryCaller.handle(place) : localMap;
                localMaps.add(localMap);
                yield error;
            }
            case "unmap local" -> owner.attempt("SCIUnmapSegment", localMap, 0);
            case "remove" -> owner.attempt("SCIRemoveSegment", segment, 0);
            case "wait for local event" ->
                    owner.attempt("SCIWaitForLocalSegmentEvent", segment, 0, 0, 1, 0);
            case "close owner" -> owner.attempt("SCIClose", ownerDescriptor, 0);
            case "connect" -> connect(owner.node(), ID);
            case "connect to an illegal node" -> connect(6, ID);
            case "connect to an absent node" -> connect(ABSENT_NODE, ID);
            case "connect to another id" -> connect(owner.node(), ID + 1);
            case "map remote" -> map(0, BYTES, 0);
            case "map remote beyond" -> map(4096, BYTES, 0);
            case "map remote between pages" -> map(100, 100, 0);
            case "map remote at an address" -> map(0, BYTES, sisci_h.SCI_FLAG_FIXED_MAP_ADDR());
            case "map remote with unknown flags" -> map(0, BYTES, 0x4000_0000);
            case "create sequence" ->
                    user.attempt("SCICreateMapSequence", map, user.place().address(), 0);
            case "start sequence" -> user.attempt("SCIStartSequence", sequence, 0);
            case "check sequence" -> user.attempt("SCICheckSequence", sequence, 0);
            case "remove sequence" -> user.attempt("SCIRemoveSequence", sequence, 0);
            case "copy" -> copy(0, 0);
            case "copy beyond" -> copy(BYTES, 0);
            case "copy checked" -> copy(0, user.constant("SCI_FLAG_ERROR_CHECK"));
            case "unmap" -> user.attempt("SCIUnmapSegment", map, 0);
            case "disconnect" -> user.attempt("SCIDisconnectSegment", remote, 0);
            case "wait for remote event" ->
                    user.attempt(
                            "SCIWaitForRemoteSegmentEvent", remote, user.place().address(), 1, 0);
            case "close user" -> user.attempt("SCIClose", userDescriptor, 0);
            default -> throw new IllegalArgumentException(call);
        };
    }

    private String connect(int node, int id) {
        return user.attempt(
                "SCIConnectSegment",
                userDescriptor,
                user.place().address(),
                node,
                id,
                0,
                0,
                0,
                -1,
                0);
    }

    private String map(long offset, long bytes, int flags) {
        return user.attempt(
                "SCIMapRemoteSegment", remote, user.place().address(), offset, bytes, 0, flags);
    }

    private String copy(long offset, int flags) {
        return user.attempt("SCIMemCpy", sequence, user.place().address(), map, offset, 8, flags);
    }

    @Override
    public void close() throws IOException {
        if (isCut) {
            owner.fabric().restoreLink(0);
        }
        owner.attempt("SCISetSegmentUnavailable", segment, 0, force);
        localMaps.forEach(each -> owner.attempt("SCIUnmapSegment", each, 0));
        attachments.forEach(each -> owner.attempt("SCIRemoveSegment", each, 0));
        owner.attempt("SCIRemoveSegment", segment, sisci_h.SCI_FLAG_FORCE_REMOVE());
    }
}
