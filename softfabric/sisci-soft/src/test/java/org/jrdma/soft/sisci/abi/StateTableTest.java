package org.jrdma.soft.sisci.abi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.sisci.abi.ThreeNodes.BYTES;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.Trouble;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Goes through a table of what each call answers in each state. */
class StateTableTest {

    /** One line of it. */
    record Row(String state, String call, String error, String certainty) {}

    static List<Row> table() throws IOException {
        try (var table = StateTableTest.class.getResourceAsStream("states.txt")) {
            return new String(table.readAllBytes(), UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(line -> Arrays.stream(line.split("\\|")).map(String::strip).toList())
                    .map(row -> new Row(row.get(0), row.get(1), row.get(2), row.get(3)))
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("table")
    void shouldAnswerAsTheTableSays(Row row) throws Exception {
        assertThat(row.certainty()).isIn("known", "likely", "guess");
        try (var nodes = new ThreeNodes(Trouble.NONE)) {
            var story = new Story(nodes);
            story.reach(row.state());

            assertThat(story.attempt(row.call())).isEqualTo(row.error());
        }
    }

    /** The first node's segment 7, and the second as its user. */
    private static final class Story {

        private static final int ID = 7;

        private final C owner;
        private final C user;
        private final long ownerDescriptor;
        private final long userDescriptor;
        private long segment;
        private long remote;
        private C.Mapped map;
        private long sequence;

        Story(ThreeNodes nodes) {
            owner = nodes.first;
            user = nodes.second;
            ownerDescriptor = nodes.firstDescriptor;
            userDescriptor = nodes.secondDescriptor;
        }

        void reach(String state) {
            switch (state) {
                case "created" -> segment = owner.create(ownerDescriptor, ID, BYTES, 0);
                case "private" ->
                        segment =
                                owner.create(
                                        ownerDescriptor, ID, BYTES, sisci_h.SCI_FLAG_PRIVATE());
                case "empty" ->
                        segment = owner.create(ownerDescriptor, ID, 0, sisci_h.SCI_FLAG_EMPTY());
                case "prepared" -> after("created", "SCIPrepareSegment", 0, 0);
                case "private prepared" -> after("private", "SCIPrepareSegment", 0, 0);
                case "available" -> after("prepared", "SCISetSegmentAvailable", 0, 0);
                case "unavailable" -> after("available", "SCISetSegmentUnavailable", 0, 0);
                case "shared" -> after("created", "SCIShareSegment", 0);
                case "removed" -> after("created", "SCIRemoveSegment", 0);
                case "mapped locally" -> {
                    reach("created");
                    owner.mapLocal(segment, BYTES);
                }
                case "connected" -> {
                    reach("available");
                    remote = user.connect(userDescriptor, owner.node(), ID);
                }
                case "forced out" -> {
                    reach("connected");
                    owner.ok(
                            "SCISetSegmentUnavailable",
                            segment,
                            0,
                            owner.constant("SCI_FLAG_FORCE_DISCONNECT"));
                    assertThat(user.remoteEvent(remote)).isEqualTo(sisci_h.SCI_CB_DISCONNECT());
                }
                case "disconnected" -> {
                    reach("connected");
                    user.ok("SCIDisconnectSegment", remote, 0);
                    owner.localEvent(segment); // connected
                    owner.localEvent(segment); // disconnected
                }
                case "mapped" -> {
                    reach("connected");
                    map = user.mapRemote(remote, BYTES);
                }
                case "unmapped" -> {
                    reach("mapped");
                    user.ok("SCIUnmapSegment", map.handle(), 0);
                }
                case "sequenced" -> {
                    reach("mapped");
                    sequence = user.sequence(map);
                }
                default -> throw new IllegalArgumentException(state);
            }
        }

        private void after(String state, String function, int... arguments) {
            reach(state);
            owner.ok(function, arguments(segment, arguments));
        }

        private static Object[] arguments(long first, int... others) {
            var all = new Object[1 + others.length];
            all[0] = first;
            for (var i = 0; i < others.length; i++) {
                all[i + 1] = others[i];
            }
            return all;
        }

        String attempt(String call) {
            return switch (call) {
                case "prepare" -> owner.attempt("SCIPrepareSegment", segment, 0, 0);
                case "prepare illegal adapter" -> owner.attempt("SCIPrepareSegment", segment, 4, 0);
                case "prepare absent adapter" -> owner.attempt("SCIPrepareSegment", segment, 1, 0);
                case "make available" -> owner.attempt("SCISetSegmentAvailable", segment, 0, 0);
                case "make unavailable" -> owner.attempt("SCISetSegmentUnavailable", segment, 0, 0);
                case "share" -> owner.attempt("SCIShareSegment", segment, 0);
                case "remove" -> owner.attempt("SCIRemoveSegment", segment, 0);
                case "close" -> owner.attempt("SCIClose", ownerDescriptor, 0);
                case "close user" -> user.attempt("SCIClose", userDescriptor, 0);
                case "create same id" -> create(owner, ownerDescriptor);
                case "create same id elsewhere" -> create(user, userDescriptor);
                case "attach" ->
                        owner.attempt(
                                "SCIAttachLocalSegment",
                                ownerDescriptor,
                                owner.place().address(),
                                ID,
                                owner.place().address(),
                                0,
                                0,
                                0);
                case "map local" ->
                        owner.attempt(
                                "SCIMapLocalSegment",
                                segment,
                                owner.place().address(),
                                0,
                                BYTES,
                                0,
                                0);
                case "connect" -> connect(owner.node(), ID);
                case "connect illegal node" -> connect(6, ID);
                case "connect absent node" -> connect(80, ID);
                case "connect other id" -> connect(owner.node(), 8);
                case "map remote" -> map(0, BYTES, 0);
                case "map remote beyond" -> map(4096, BYTES, 0);
                case "map remote between pages" -> map(100, 100, 0);
                case "map remote fixed" -> map(0, BYTES, sisci_h.SCI_FLAG_FIXED_MAP_ADDR());
                case "map remote illegally" -> map(0, BYTES, 0x4000_0000);
                case "disconnect" -> user.attempt("SCIDisconnectSegment", remote, 0);
                case "wait for event" ->
                        user.attempt(
                                "SCIWaitForRemoteSegmentEvent",
                                remote,
                                user.place().address(),
                                1,
                                0);
                case "unmap" -> user.attempt("SCIUnmapSegment", map.handle(), 0);
                case "create sequence" ->
                        user.attempt(
                                "SCICreateMapSequence", map.handle(), user.place().address(), 0);
                case "remove sequence" -> user.attempt("SCIRemoveSequence", sequence, 0);
                case "start sequence" -> user.attempt("SCIStartSequence", sequence, 0);
                case "check sequence" -> user.attempt("SCICheckSequence", sequence, 0);
                case "copy" -> copy(0, 0);
                case "copy beyond" -> copy(BYTES, 0);
                case "copy checked" -> copy(0, user.constant("SCI_FLAG_ERROR_CHECK"));
                default -> throw new IllegalArgumentException(call);
            };
        }

        private static String create(C process, long descriptor) {
            return process.attempt(
                    "SCICreateSegment", descriptor, process.place().address(), ID, BYTES, 0, 0, 0);
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
                    "SCIMapRemoteSegment",
                    remote,
                    user.place().address(),
                    offset,
                    bytes,
                    MemorySegment.NULL.address(),
                    flags);
        }

        private String copy(long offset, int flags) {
            return user.attempt(
                    "SCIMemCpy", sequence, user.place().address(), map.handle(), offset, 8, flags);
        }
    }
}
