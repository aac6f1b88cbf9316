package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.soft.sisci.device.DeviceHost;
import org.jspecify.annotations.Nullable;

/** A borrower that writes made-up commands, addresses and doorbell values. */
final class HostileBorrower {

    static final int ENTRIES = 32;

    private static final int BYTES = 256 << 10;
    private static final int GUARD = 64 << 10;
    private static final int PAGE = 4096;

    /** The queues have a page each. All other pages can be lists of pages. */
    private static final int LONGS_BEFORE_LISTS = 2 * PAGE / 8;

    private static final int LISTS_LONGS = BYTES / 8 - LONGS_BEFORE_LISTS;

    private final Harness harness;
    private final Random random;
    private final Random changes = new Random(22);
    private final long victim;
    private final MemorySegment guarded;
    private final MemorySegment memory;
    private volatile long address;
    private volatile boolean isChanging;
    private @Nullable Thread changer;

    /**
     * Attaches the borrower.
     *
     * @param victim an I/O address of another borrower
     */
    HostileBorrower(Harness harness, Random random, long victim) {
        this.harness = harness;
        this.random = random;
        this.victim = victim;
        this.guarded = harness.arena().allocate(BYTES + 2 * GUARD, PAGE).fill((byte) 0x5a);
        this.memory = guarded.asSlice(GUARD, BYTES);
        attach();
    }

    private void attach() {
        harness.host().attach(Harness.GUEST);
        address = harness.host().map(Harness.GUEST, memory, DeviceHost.Signal.NONE);
        fillWithAddresses();
    }

    /** Ends this borrower, and attaches it again. */
    void restart() {
        harness.host().detach(Harness.GUEST);
        attach();
    }

    /** Fills the memory with addresses, because every page may be used as a list of pages. */
    private void fillWithAddresses() {
        for (var i = 0; i < BYTES / 8; i++) {
            memory.setAtIndex(JAVA_LONG, i, anyAddress(random));
        }
    }

    /**
     * Starts a thread that changes the addresses and the parameters of commands, and lists of
     * pages, all the time.
     */
    void startToChangeMemory() {
        isChanging = true;
        changer =
                Thread.ofPlatform()
                        .name("changer")
                        .start(() -> {
                            while (isChanging) {
                                changeMemory();
                                LockSupport.parkNanos(10_000);
                            }
                        });
    }

    private void changeMemory() {
        for (var i = 0; i < ENTRIES; i++) {
            memory.setAtIndex(
                    JAVA_LONG,
                    LONGS_BEFORE_LISTS + changes.nextInt(LISTS_LONGS),
                    anyAddress(changes));
            // the data pointer and dwords 10 to 15: neither the opcode nor the namespace
            var offset =
                    changes.nextInt(ENTRIES) * (long) Command.BYTES + 24 + 8L * changes.nextInt(5);
            memory.set(
                    JAVA_LONG,
                    offset,
                    changes.nextInt(2) == 0 ? anyAddress(changes) : changes.nextInt(256));
        }
    }

    void stopChangingMemory() throws InterruptedException {
        isChanging = false;
        Objects.requireNonNull(changer).join();
    }

    long submissions() {
        return address;
    }

    long completions() {
        return address + PAGE;
    }

    MemorySegment memory() {
        return memory;
    }

    /** Writes a made-up command that does not change namespace 1. */
    void writeIoCommand(int index) {
        var command = anyCommand(ioOpcode());
        if (command.namespace() == 1) {
            command = command.withNamespace(2);
        }
        command.encode(memory, (long) index * Command.BYTES);
    }

    void writeAdminCommand(int index) {
        anyCommand(random.nextInt(4) == 0 ? random.nextInt(256) : random.nextInt(13))
                .encode(memory, (long) index * Command.BYTES);
    }

    private int ioOpcode() {
        var known = new int[] {0, 1, 2, 2, 8, 9, 0x0d, 0x0e, 0x11, 0x15};
        return random.nextInt(8) == 0 ? random.nextInt(256) : known[random.nextInt(known.length)];
    }

    private Command anyCommand(int opcode) {
        return new Command(
                opcode,
                random.nextInt(8) == 0 ? random.nextInt(256) : 0,
                random.nextInt(65_536),
                random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(4),
                anyAddress(random),
                anyAddress(random),
                anyDword(),
                random.nextInt(3) == 0 ? anyDword() : 0,
                anyDword(),
                random.nextInt(8) == 0 ? anyDword() : 0,
                anyDword(),
                anyDword());
    }

    private int anyDword() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt();
            case 1 -> 3 << random.nextInt(32);
            default -> random.nextInt(256);
        };
    }

    private long anyAddress(Random random) {
        return switch (random.nextInt(16)) {
            case 0 -> random.nextLong();
            case 1 -> victim + random.nextInt(BYTES);
            case 2 -> victim + random.nextInt(BYTES / PAGE) * (long) PAGE;
            case 3 -> address + BYTES + random.nextInt(3) * (long) PAGE;
            case 4 -> address + random.nextInt(BYTES / 4) * 4L;
            case 5 -> 0;
            default -> address + (2 + random.nextInt(BYTES / PAGE - 2)) * (long) PAGE;
        };
    }

    /** Stores made-up values into all registers, doorbells and interrupt vectors. */
    void writeAnyRegister() {
        var registers = harness.registers();
        switch (random.nextInt(6)) {
            case 0 -> registers.write(random.nextInt(0x1000) * 4L, random.nextInt());
            case 1 -> registers.write(0x1000 + random.nextInt(130) * 4L, anyDword());
            case 2 ->
                    registers.writeLong(MappedRegisters.ADMIN_SUBMISSION_QUEUE, anyAddress(random));
            case 3 ->
                    registers.writeLong(MappedRegisters.ADMIN_COMPLETION_QUEUE, anyAddress(random));
            case 4 -> registers.write(MappedRegisters.CONFIGURATION, anyDword());
            default -> registers.writeLong(0x2000 + random.nextInt(65) * 16L, anyAddress(random));
        }
    }

    void assertGuardsUntouched() {
        for (var i = 0L; i < GUARD; i++) {
            assertThat(guarded.get(JAVA_BYTE, i)).isEqualTo((byte) 0x5a);
            assertThat(guarded.get(JAVA_BYTE, GUARD + BYTES + i)).isEqualTo((byte) 0x5a);
        }
    }
}
