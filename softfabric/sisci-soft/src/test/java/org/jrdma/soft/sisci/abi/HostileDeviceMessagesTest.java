package org.jrdma.soft.sisci.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.ffi.linkage.SeqPacketSocket.Packet.NO_DESCRIPTOR;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.linkage.SealedMemory;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.sisci.LentDevice;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.control.FabricDirectory;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests processes that lend and borrow devices while another process sends arbitrary messages. */
@Timeout(60)
class HostileDeviceMessagesTest {

    private static final int SLOT = 1;
    private static final int BORROW = 50;
    private static final int BYTES = 64 << 10;

    /** The maximum number of windows of a process. */
    private static final int MAX_WINDOWS = 4096;

    private static final int PRIVATE = SCI_MEMTYPE_PRIVATE();

    private final ScriptedDevice model = new ScriptedDevice(1, 2, "hostile");
    private Path folder;
    private LibraryCaller lender;
    private LentDevice lent;
    private RawProcess borrower;
    private int memory;

    @BeforeEach
    void borrow(@TempDir Path place) throws Exception {
        folder = place;
        lender = LibraryCaller.in(SoftSisciOptions.in(folder));
        lent = lender.fabric().lend(model);
        borrower = new RawProcess(folder, lender.node()).hello(8);
        assertThat(borrower.request(Kind.BORROW_DEVICE, BORROW, SLOT, 0, 0)).isEqualTo("OK");
        memory = SealedMemory.create("of the borrower");
        SealedMemory.reserve(memory, BYTES);
    }

    @AfterEach
    void leave() {
        SystemCalls.close(memory);
        borrower.close();
        lender.close();
    }

    private String map(int borrow, int window, long offset, long bytes, int file) {
        return borrower.request(
                Kind.MAP_FOR_DEVICE, borrow, window, 0, offset, sizeAndNode(bytes, 8), file);
    }

    private static byte[] sizeAndNode(long bytes, int node) {
        return ByteBuffer.allocate(12).putLong(bytes).putInt(node).array();
    }

    @Test
    void shouldMapOnlySealedMemoryOfSufficientSize() throws Exception {
        var path = folder.resolve("file");
        Files.write(path, new byte[BYTES]);
        var ordinary = SystemCalls.openFile(path.toString());
        var unsealed = SealedMemory.create("unsealed");
        SystemCalls.setFileBytes(unsealed, BYTES);

        assertThat(map(BORROW, 1, 0, BYTES, ordinary)).isEqualTo("ILLEGAL_PARAMETER");
        assertThat(map(BORROW, 1, 0, BYTES, unsealed)).isEqualTo("ILLEGAL_PARAMETER");
        assertThat(map(BORROW, 1, 0, BYTES + 1, memory)).isEqualTo("ILLEGAL_PARAMETER");
        assertThat(map(BORROW, 1, 4096, BYTES, memory)).isEqualTo("ILLEGAL_PARAMETER");
        assertThat(map(BORROW, 1, 0, BYTES, NO_DESCRIPTOR)).isEqualTo("NOSPC");
        assertThat(map(BORROW, 1, 0, BYTES, memory)).isEqualTo("OK");
        SystemCalls.close(ordinary);
        SystemCalls.close(unsealed);
    }

    @Test
    void shouldRejectMappingsWithInvalidNumbers() {
        assertThat(map(BORROW, 1, 0, -1, memory)).isEqualTo("OUT_OF_RANGE");
        assertThat(map(BORROW, 1, 0, Long.MIN_VALUE, memory)).isEqualTo("OUT_OF_RANGE");
        assertThat(map(BORROW, 1, 0, Long.MAX_VALUE, memory)).isEqualTo("NOSPC");
        assertThat(map(BORROW, 1, 0, (1L << 36) + 1, memory)).isEqualTo("NOSPC");
        assertThat(map(BORROW, 1, -4096, 4096, memory)).isEqualTo("OUT_OF_RANGE");
        assertThat(map(BORROW, 1, Long.MAX_VALUE - 4095, 4096, memory)).isEqualTo("OUT_OF_RANGE");
        assertThat(map(BORROW, 1, 1, 4096, memory)).isEqualTo("OFFSET_ALIGNMENT");
        assertThat(map(BORROW, 1, 0, 0, memory)).isEqualTo("SIZE_ALIGNMENT");
        assertThat(map(BORROW + 1, 1, 0, 4096, memory)).isEqualTo("NOT_AVAILABLE");
        for (var length : new int[] {0, 11, 13, 4096}) {
            assertThat(
                            borrower.request(
                                    Kind.MAP_FOR_DEVICE, BORROW, 1, 0, 0, new byte[length], memory))
                    .isEqualTo("ILLEGAL_PARAMETER");
        }
        assertThat(map(BORROW, -1, 0, 4096, memory)).isEqualTo("OK");
        assertThat(map(BORROW, -1, 0, 4096, memory)).isEqualTo("BUSY");
    }

    @Test
    void shouldLimitTheNumberOfMappings() {
        for (var i = 0; i < 1024; i++) {
            assertThat(map(BORROW, i, 0, 4096, memory)).isEqualTo("OK");
        }
        assertThat(map(BORROW, 1024, 0, 4096, memory)).isEqualTo("MAX_ENTRIES");
        assertThat(borrower.request(Kind.UNMAP_FOR_DEVICE, BORROW, 5, 0, 0)).isEqualTo("OK");
        assertThat(map(BORROW, 1024, 0, 4096, memory)).isEqualTo("OK");
    }

    @Test
    void shouldLimitTheNumberOfBorrowers() throws Exception {
        assertThat(borrower.request(Kind.BORROW_DEVICE, BORROW, SLOT, 0, 0))
                .isEqualTo("ILLEGAL_PARAMETER");
        for (var i = 1; i < 255; i++) {
            assertThat(borrower.request(Kind.BORROW_DEVICE, BORROW + i, SLOT, 0, 0))
                    .isEqualTo("OK");
        }
        assertThat(borrower.request(Kind.BORROW_DEVICE, 0, SLOT, 0, 0)).isEqualTo("BUSY");

        borrower.close();

        ThreeNodes.eventually(() -> lent.borrowers() == 0);
        assertThat(model.calls).hasSize(256).endsWith("reset");
        borrower = new RawProcess(folder, lender.node()).hello(8);
        assertThat(borrower.request(Kind.BORROW_DEVICE, 0, SLOT, 1, 0)).isEqualTo("OK");
    }

    @Test
    void shouldRejectInvalidRequests() {
        assertThat(borrower.request(Kind.BORROW_DEVICE, 1, 2, 0, 0)).isEqualTo("NOT_AVAILABLE");
        assertThat(borrower.request(Kind.BORROW_DEVICE, 1, -1, 0, 0)).isEqualTo("NOT_AVAILABLE");
        assertThat(borrower.request(Kind.IDENTIFY_DEVICE, 7, 0, 0, 0)).isEqualTo("NOT_AVAILABLE");
        assertThat(borrower.request(Kind.CONNECT_DEVICE_SEGMENT, BORROW, 0, 7, 0))
                .isEqualTo("ILLEGAL_PARAMETER");
        assertThat(borrower.request(Kind.CONNECT_DEVICE_SEGMENT, BORROW, -1, 1, 0))
                .isEqualTo("NO_SUCH_INTNO");
        for (var bytes : new long[] {0, -1, Long.MIN_VALUE}) {
            assertThat(borrower.request(Kind.CREATE_DEVICE_SEGMENT, BORROW, 1, PRIVATE, bytes))
                    .isEqualTo("SIZE_ALIGNMENT");
        }
        for (var bytes : new long[] {(1L << 30) + 1, Long.MAX_VALUE}) {
            assertThat(borrower.request(Kind.CREATE_DEVICE_SEGMENT, BORROW, 1, PRIVATE, bytes))
                    .isEqualTo("NOSPC");
        }
        assertThat(borrower.request(Kind.CREATE_DEVICE_SEGMENT, BORROW, 1, 6, 4096))
                .isEqualTo("ILLEGAL_PARAMETER");
        assertThat(borrower.request(Kind.UNMAP_FOR_DEVICE, BORROW, 9, 0, 0)).isEqualTo("OK");
        assertThat(borrower.request(Kind.RETURN_DEVICE, 9, 0, 0, 0)).isEqualTo("OK");
    }

    /** A borrow is identified by its connection, so no process can end that of another one. */
    @Test
    void shouldNotLetAProcessUseTheBorrowOfAnotherProcess() throws Exception {
        try (var other = new RawProcess(folder, lender.node()).hello(8)) {
            assertThat(other.request(Kind.CONNECT_DEVICE_SEGMENT, BORROW, 0, 1, 0))
                    .isEqualTo("NOT_AVAILABLE");
            assertThat(other.request(Kind.RETURN_DEVICE, BORROW, 0, 0, 0)).isEqualTo("OK");
            assertThat(lent.borrowers()).isEqualTo(1);
        }
    }

    @Test
    void shouldCloseDescriptorsOfRequestsThatItRejects() throws Exception {
        var before = descriptors();
        var kinds = Kind.values();
        var random = new Random(5);
        for (var i = 0; i < 2_000; i++) {
            var kind = i % 2 == 0 ? Kind.MAP_FOR_DEVICE : kinds[random.nextInt(kinds.length)];
            if (kind == Kind.HELLO || kind == Kind.RESPONSE || kind == Kind.REFRESH) {
                continue; // The message ends the connection, or has no effect.
            }
            borrower.discardMessages(); // The lender stops reading if responses accumulate.
            borrower.send(
                    kind,
                    random.nextBoolean() ? BORROW : random.nextInt(),
                    random.nextInt(4),
                    random.nextInt(3),
                    random.nextBoolean() ? 0 : random.nextLong(),
                    sizeAndNode(random.nextBoolean() ? 4096 : random.nextLong(), random.nextInt()),
                    memory);
        }
        borrower.close();
        ThreeNodes.eventually(() -> lent.borrowers() == 0);

        ThreeNodes.eventually(() -> descriptors() <= before);
        try (var next = new RawProcess(folder, lender.node()).hello(8)) {
            assertThat(next.request(Kind.BORROW_DEVICE, BORROW, SLOT, 1, 0)).isEqualTo("OK");
        }
    }

    @Test
    void shouldNotAccumulateResponsesToAProcessThatDoesNotReceiveThem() throws Exception {
        var before = descriptors();
        ThreeNodes.eventually(this::isFull);
        try (var other = new RawProcess(folder, lender.node()).hello(8)) {
            assertThat(other.request(Kind.IDENTIFY_DEVICE, SLOT, 0, 0, 0)).isEqualTo("OK");
        }

        assertThat(descriptors()).isLessThan(before + 1_500);
    }

    /**
     * Sends requests until the buffer of the socket is full. Returns true if even the first request
     * did not fit.
     */
    private boolean isFull() {
        var full = true;
        while (requestBar()) {
            full = false;
        }
        return full;
    }

    private boolean requestBar() {
        return borrower.trySend(
                Kind.CONNECT_DEVICE_SEGMENT,
                BORROW,
                0,
                SCI_MEMTYPE_BAR(),
                0,
                new byte[0],
                NO_DESCRIPTOR);
    }

    @Test
    void shouldLimitTheWindowsOfAProcessOverAllItsBorrows() {
        for (var window = 0; window < MAX_WINDOWS; window++) {
            if (window % 1024 == 0) {
                assertThat(borrower.request(Kind.BORROW_DEVICE, window, SLOT, 0, 0))
                        .isEqualTo("OK");
            }
            assertThat(map(window / 1024 * 1024, window, 0, 4096, memory)).isEqualTo("OK");
        }
        assertThat(map(BORROW, 1, 0, 4096, memory)).isEqualTo("MAX_ENTRIES");

        assertThat(borrower.request(Kind.UNMAP_FOR_DEVICE, 0, 0, 0, 0)).isEqualTo("OK");
        assertThat(map(BORROW, 1, 0, 4096, memory)).isEqualTo("OK");
        assertThat(map(BORROW, 2, 0, 4096, memory)).isEqualTo("MAX_ENTRIES");

        assertThat(borrower.request(Kind.RETURN_DEVICE, 1024, 0, 0, 0)).isEqualTo("OK");
        assertThat(map(BORROW, 2, 0, 4096, memory)).isEqualTo("OK");
    }

    @Test
    void shouldIgnoreMessagesForABorrowFromProcessesOtherThanTheLender() throws Exception {
        var own = new DeviceFunctionCaller(lender, lender.open());
        var device = own.borrow(lent.fabricDeviceId(), 0);
        var segment = own.prepare(9, BYTES);
        var flag = register(segment, 8192);
        var address = own.mapLocal(segment, device, 4096, 8192);

        for (var number = 0; number < 10; number++) {
            for (var window = 0; window < 10; window++) {
                send(Kind.DEVICE_SIGNAL, number, window, 4096);
            }
            send(Kind.DEVICE_GONE, number, 0, 0);
        }
        // The process has handled all earlier messages when it responds to this one.
        assertThat(borrower.request(Kind.IDENTIFY_DEVICE, SLOT, 0, 0, 0)).isEqualTo("OK");

        assertThat(awaitInterrupt(flag, 50)).isEqualTo("TIMEOUT");
        assertThat(model.signal(address + 4096, 1)).isTrue();
        assertThat(awaitInterrupt(flag, 5_000)).isEqualTo("OK");
    }

    @Test
    void shouldIgnoreSignalsOfTheLenderOutsideTheMappedMemory() throws Exception {
        var own = new DeviceFunctionCaller(lender, lender.open());
        var segment = own.prepare(9, BYTES);
        var before = register(segment, 0);
        var inside = register(segment, 8192);
        var after = register(segment, 4096 + 8192);
        var listening = SeqPacketSocket.listen(folder.resolve("12.member.0.0").toString());
        try (var directory = FabricDirectory.open(folder, false)) {
            var _ =
                    directory.locked(() -> {
                        directory.mark(
                                new ObjectAnnouncementFile(
                                        12, ObjectAnnouncementFile.Kind.DEVICE, SLOT, 0));
                        return true;
                    });
        }
        var accepted = CompletableFuture.supplyAsync(() -> RawProcess.accept(listening));
        var borrowed = accepted.thenApply(hostile -> hostile.respond(Kind.BORROW_DEVICE, 0)[0]);
        var device = own.borrow(12 << 8 | SLOT, 0);
        try (var hostile = accepted.get()) {
            var mapped =
                    CompletableFuture.supplyAsync(
                            () -> hostile.respond(Kind.MAP_FOR_DEVICE, 1L << 40)[1]);
            own.mapLocal(segment, device, 4096, 8192);
            var borrow = borrowed.get();
            var window = mapped.get();

            for (var offset : new long[] {-4096, 8192, Long.MIN_VALUE, Long.MAX_VALUE}) {
                signal(hostile, borrow, window, offset);
            }
            signal(hostile, borrow, window - 1, 4096);
            signal(hostile, borrow, window + 1, 4096);

            assertThat(awaitInterrupt(inside, 50)).isEqualTo("TIMEOUT");
            signal(hostile, borrow, window, 4096);
            assertThat(awaitInterrupt(inside, 5_000)).isEqualTo("OK");
            assertThat(awaitInterrupt(before, 0)).isEqualTo("TIMEOUT");
            assertThat(awaitInterrupt(after, 0)).isEqualTo("TIMEOUT");
        } finally {
            SystemCalls.close(listening);
        }
    }

    private static void signal(RawProcess process, int borrow, int window, long offset) {
        process.send(Kind.DEVICE_SIGNAL, borrow, window, 0, offset, new byte[0], NO_DESCRIPTOR);
    }

    private void send(Kind kind, int number, int window, long offset) {
        borrower.send(kind, number, window, 0, offset, new byte[0], NO_DESCRIPTOR);
    }

    private long register(long segment, int offset) {
        var place = lender.place();
        lender.ok("SCIRegisterInterruptFlag", 0, place.address(), segment, offset, 0, 0, 0);
        return LibraryCaller.handle(place);
    }

    private String awaitInterrupt(long flag, int milliseconds) {
        return lender.attempt("SCIWaitForInterrupt", flag, milliseconds, 0);
    }

    private static long descriptors() throws Exception {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }
}
