package org.jrdma.tck.verbs;

import static java.nio.file.StandardOpenOption.READ;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests reregistered regions, regions whose addresses differ from those of their memory, and null
 * regions.
 */
class ReregistrationTest {

    private static final long VIRTUAL_ADDRESS = 0x10_0000_0000L;
    private static final int BYTES = 8192;

    private Pair pair;
    private Side left;
    private Side right;

    @BeforeEach
    void open() throws VerbsException {
        pair =
                Pair.connected(
                        options -> options.sendElements(2).receiveElements(2).inlineBytes(64));
        left = pair.left();
        right = pair.right();
        left.fill(1);
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    private CompletionStatus write(RemoteMemory remote) throws VerbsException {
        return left.complete(left.queuePair().prepareWrite(left.region().slice(0, 100), remote))
                .status();
    }

    private static byte[] bytes(MemoryRegion region, long offset, long length) {
        return region.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    void shouldUseTheChosenAddress() throws VerbsException {
        fabric().needs(Feature.CHOSEN_ADDRESSES);
        var region = right.domain().newArena(Pair.ALL).regionAt(VIRTUAL_ADDRESS, BYTES);
        assertThat(region.startAddress()).isEqualTo(VIRTUAL_ADDRESS);
        assertThat(region.remote().address()).isEqualTo(VIRTUAL_ADDRESS);

        assertThat(write(region.remote().slice(5000, 100))).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(bytes(region, 5000, 100)).containsOnly(1);
        assertThat(bytes(region, 0, 5000)).containsOnly(0);

        // requests of the side that registered the region use the chosen address, too
        var read =
                right.queuePair()
                        .prepareRead(region.slice(0, 100), left.region().remote().slice(0, 100));
        assertThat(right.complete(read).status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(bytes(region, 0, 100)).containsOnly(1);
    }

    /**
     * The provider would copy inline data from the chosen address, where this process has no
     * memory.
     */
    @Test
    void shouldRejectInlineDataFromARegionWithAChosenAddress() throws VerbsException {
        fabric().needs(Feature.CHOSEN_ADDRESSES);
        var region = left.domain().newArena(Pair.ALL).regionAt(VIRTUAL_ADDRESS, BYTES);
        var remote = right.region().remote();
        var write = left.queuePair().prepareWrite(region.slice(0, 8), remote.slice(0, 8));

        assertThatThrownBy(() -> write.inline(true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is its virtual address");
        write.local(left.region().slice(0, 8)).inline(true);
        assertThatThrownBy(() -> write.local(region.slice(0, 8)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(left.complete(write).status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(bytes(right.region(), 0, 8)).containsOnly(1);
    }

    @Test
    void shouldRejectAnAddressWithADifferentPageOffset() throws VerbsException {
        fabric().needs(Feature.CHOSEN_ADDRESSES);
        var arena = right.domain().newArena(Pair.ALL);
        assertThatThrownBy(() -> arena.regionAt(VIRTUAL_ADDRESS + 8, BYTES))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("EINVAL");
    }

    @Test
    void shouldStartItsAddressesAtZeroIfItIsZeroBased() throws VerbsException {
        fabric().needs(Feature.ZERO_BASED_REGIONS);
        var region =
                right.domain().newArena(LOCAL_WRITE, REMOTE_WRITE, Access.ZERO_BASED).region(BYTES);
        assertThat(region.remote().address()).isZero();

        assertThat(write(region.remote().slice(5000, 100))).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(bytes(region, 5000, 100)).containsOnly(1);

        left.region().segment().asSlice(0, 100).fill((byte) 7);
        var read =
                right.queuePair()
                        .prepareRead(region.slice(0, 100), left.region().remote().slice(0, 100));
        assertThat(right.complete(read).status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(bytes(region, 0, 100)).containsOnly(7);
    }

    @Test
    void shouldDiscardDataWrittenToANullRegion() throws VerbsException {
        fabric().needs(Feature.NULL_REGIONS);
        var nullRegion = right.domain().newNullRegion();
        right.fill(2);
        right.post(
                right.queuePair()
                        .prepareReceive(
                                List.of(nullRegion.slice(0, 60), right.region().slice(0, 40))));

        var sent = left.complete(left.queuePair().prepareSend(left.region().slice(0, 100)));

        assertThat(sent.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(right.next().bytes()).isEqualTo(100);
        assertThat(right.bytes(0, 40)).containsOnly(1);
        assertThat(right.bytes(40, 100)).containsOnly(2);
    }

    @Test
    void shouldSendZerosFromANullRegion() throws VerbsException {
        fabric().needs(Feature.NULL_REGIONS);
        var nullRegion = left.domain().newNullRegion();
        right.fill(2);
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));

        var sent = left.complete(left.queuePair().prepareSend(nullRegion.slice(1L << 40, 100)));

        assertThat(sent.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(right.next().bytes()).isEqualTo(100);
        assertThat(right.bytes(0, 100)).containsOnly(0);
        assertThat(right.bytes(100, 100)).containsOnly(2);
    }

    @Test
    void shouldReportThatNullRegionsAreNotSupported() {
        if (!fabric().profile().has(Feature.NULL_REGIONS)) {
            assertThatThrownBy(() -> right.domain().newNullRegion())
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_alloc_null_mr")
                    .hasMessageContaining("EOPNOTSUPP");
        }
    }

    @Test
    void shouldNotGrantPeersAccessToANullRegion() throws VerbsException {
        fabric().needs(Feature.NULL_REGIONS);
        var nullRegion = right.domain().newNullRegion();

        assertThat(nullRegion.segment().byteSize()).isZero();
        assertThat(nullRegion.remoteKey()).isZero();
        assertThatThrownBy(nullRegion::remote).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldAddARightToARegion() throws VerbsException {
        fabric().needs(Feature.REREGISTRATION);
        var region = right.domain().newArena(LOCAL_WRITE).region(BYTES);

        var changed = region.reregister(LOCAL_WRITE, REMOTE_WRITE);

        assertThat(region.isOpen()).isFalse();
        assertThat(changed.access()).containsExactlyInAnyOrder(LOCAL_WRITE, REMOTE_WRITE);
        assertThat(write(changed.remote().slice(0, 100))).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(bytes(changed, 0, 100)).containsOnly(1);
    }

    @Test
    void shouldRunAtomicsInReregisteredMemory() throws VerbsException {
        fabric().needs(Feature.REREGISTRATION);
        var changed =
                right.domain()
                        .newArena(LOCAL_WRITE)
                        .region(BYTES)
                        .reregister(LOCAL_WRITE, Access.REMOTE_ATOMIC);
        changed.segment().set(ValueLayout.JAVA_LONG, 0, 40);

        var add =
                left.queuePair()
                        .prepareFetchAndAdd(left.region().slice(0, 8), changed.remote())
                        .delta(2);
        assertThat(left.complete(add).status()).isEqualTo(CompletionStatus.SUCCESS);

        assertThat(left.region().segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(40);
        assertThat(changed.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
    }

    @Test
    void shouldRemoveARightFromARegion() throws VerbsException {
        fabric().needs(Feature.REREGISTRATION);
        var region = right.domain().newArena(LOCAL_WRITE, REMOTE_WRITE).region(BYTES);

        var changed = region.reregister(LOCAL_WRITE, REMOTE_READ);

        assertThat(write(changed.remote().slice(0, 100)))
                .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(bytes(changed, 0, 100)).containsOnly(0);
    }

    @Test
    void shouldMoveARegionToAnotherDomain() throws VerbsException {
        fabric().needs(Feature.REREGISTRATION);
        var otherDomain = pair.device().newProtectionDomain();
        var region = otherDomain.newArena(Pair.ALL).region(BYTES);

        var moved = right.domain().reregister(region);

        assertThat(write(moved.remote().slice(0, 100))).isEqualTo(CompletionStatus.SUCCESS);
        otherDomain.close(); // Closes the arena and its region.
        assertThat(moved.isOpen()).isFalse();
    }

    @Test
    void shouldMoveARegionToOtherMemory() throws VerbsException {
        fabric().needs(Feature.REREGISTRATION);
        try (var arena = Arena.ofShared();
                var region = right.domain().newArena(Pair.ALL).region(BYTES)) {
            var other = arena.allocate(2 * BYTES, 4096);

            try (var moved = region.reregisterUnguarded(other)) {
                assertThat(moved.length()).isEqualTo(2 * BYTES);
                assertThat(write(moved.remote().slice(BYTES, 100)))
                        .isEqualTo(CompletionStatus.SUCCESS);
                assertThat(bytes(moved, BYTES, 100)).containsOnly(1);
            }
        }
    }

    /** The region owns the mapping, and the new region takes it over. */
    @Test
    void shouldUnmapAFileOnceItsRegionHasOtherMemory(@TempDir Path folder) throws Exception {
        fabric().needs(Feature.REREGISTRATION);
        var path = Files.write(folder.resolve("file"), new byte[BYTES]);
        try (var file = FileChannel.open(path, READ);
                var arena = Arena.ofShared()) {
            var mapped = right.domain().registerMapped(file, 0, BYTES, REMOTE_READ);
            var segment = mapped.segment();

            var unchanged = mapped.reregister(REMOTE_READ, Access.RELAXED_ORDERING);
            assertThat(mapped.isOpen()).isFalse();
            assertThat(unchanged.segment()).isEqualTo(segment);
            assertThat(segment.scope().isAlive()).isTrue();

            try (var moved = unchanged.reregisterUnguarded(arena.allocate(BYTES, 4096))) {
                assertThat(moved.length()).isEqualTo(BYTES);
                assertThat(segment.scope().isAlive()).isFalse();
            }
        }
    }

    @Test
    void shouldRejectTheFormerKeyAfterAReregistration() throws VerbsException {
        fabric().needs(Feature.REREGISTRATION);
        var region = right.domain().newArena(Pair.ALL).region(BYTES);
        var before = region.remote();

        var changed = region.reregister(Pair.ALL);

        assertThat(changed.remoteKey()).isNotEqualTo(before.key());
        assertThat(write(before)).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(bytes(changed, 0, 100)).containsOnly(0);
    }

    /** All providers reject this change, even those that support reregistration. */
    @Test
    void shouldLeaveARegionUnchangedWhenAChangeIsRejected() throws VerbsException {
        var region = right.domain().newArena(LOCAL_WRITE, REMOTE_WRITE).region(BYTES);

        assertThatThrownBy(() -> region.reregister(REMOTE_WRITE))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_rereg_mr");

        assertThat(region.isOpen()).isTrue();
        assertThat(write(region.remote().slice(0, 100))).isEqualTo(CompletionStatus.SUCCESS);
    }

    @Test
    void shouldRefuseToMoveARegionToHeapMemoryOrToAnotherDevice() throws VerbsException {
        var region = right.domain().register(ByteBuffer.allocateDirect(BYTES), LOCAL_WRITE);
        try (var other = fabric().open()) {
            var domain = other.newProtectionDomain();

            assertThatThrownBy(() -> domain.reregister(region))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("different devices");
            assertThatThrownBy(
                            () -> region.reregisterUnguarded(MemorySegment.ofArray(new byte[64])))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("native");
        }
        assertThat(region.isOpen()).isTrue();
    }

    private static Fabric fabric() {
        return Fabric.underTest();
    }
}
