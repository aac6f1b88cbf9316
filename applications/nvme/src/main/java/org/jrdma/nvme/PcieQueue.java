package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.MappedRegisters;
import org.jspecify.annotations.Nullable;

/** A submission queue and a completion queue in memory that the controller accesses. */
final class PcieQueue extends NvmeQueue {

    private static final VarHandle INT = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();
    private static final VarHandle LONG = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final QueueResources resources;
    private final MappedRegisters registers;
    private final long tailDoorbell;
    private final long headDoorbell;
    private final MemorySegment memory;
    private final long completionOffset;
    private final int submissionEntries;
    private final int completionEntries;
    private final int ringThreshold;
    private int tail;
    private int head;
    private int phase = 1;
    private int unreported;

    PcieQueue(QueueResources resources, int maxTransferBytes) {
        super(
                resources.controller(),
                resources.lifetime(),
                resources.held(),
                resources.depth(),
                maxTransferBytes);
        var controller = resources.controller();
        var stride = controller.capabilities().doorbellStride();
        this.resources = resources;
        this.registers = controller.registers();
        this.tailDoorbell = MappedRegisters.tailDoorbell(resources.id(), stride);
        this.headDoorbell = MappedRegisters.headDoorbell(resources.id(), stride);
        this.memory = resources.memory().memory();
        this.completionOffset = resources.completionOffset();
        this.submissionEntries = resources.depth() + 1;
        this.completionEntries = resources.completionEntries();
        // the completion queue has room for all pending and all unreported completions
        this.ringThreshold = completionEntries - 1 - resources.depth();
    }

    @Override
    void send(
            int slot,
            int opcode,
            int namespace,
            long block,
            int dword12,
            @Nullable DmaMemory data,
            long offset,
            int bytes) {
        var prp1 = 0L;
        var prp2 = 0L;
        if (data != null) {
            var firstPage = (int) (offset >>> Configuration.PAGE_SHIFT);
            var inPage = (int) offset & (Configuration.PAGE_BYTES - 1);
            var pages =
                    (inPage + bytes + Configuration.PAGE_BYTES - 1) >>> Configuration.PAGE_SHIFT;
            prp1 = data.pageAddress(firstPage) + inPage;
            if (pages == 2) {
                prp2 = data.pageAddress(firstPage + 1);
            } else if (pages > 2) {
                prp2 = writeList(slot, data, firstPage, pages);
            }
        }
        Command.encodeBlocks(
                memory,
                (long) tail * Command.BYTES,
                opcode,
                slot,
                namespace,
                prp1,
                prp2,
                block,
                dword12);
        tail = tail + 1 == submissionEntries ? 0 : tail + 1;
        registers.write(tailDoorbell, tail);
    }

    /** Writes the addresses of all pages but the first, and returns the address of the list. */
    private long writeList(int slot, DmaMemory data, int firstPage, int pages) {
        var list = resources.listOffset(slot);
        for (var page = 1; page < pages; page++) {
            LONG.set(memory, list + (page - 1L) * Long.BYTES, data.pageAddress(firstPage + page));
        }
        return resources.memory().pageAddress((int) (list >>> Configuration.PAGE_SHIFT));
    }

    @Override
    long poll() throws NvmeException {
        var last =
                (int)
                        INT.getAcquire(
                                memory,
                                completionOffset
                                        + (long) head * Completion.BYTES
                                        + Completion.LAST_DWORD);
        if (Completion.phase(last) != phase) {
            if (unreported > 0) {
                reportHead();
            }
            return CommandSlots.NOTHING;
        }
        var slot = Completion.commandId(last);
        if (!isPending(slot)) {
            throw new NvmeException(
                    "%s completed the unknown command %d. Close the queue.".formatted(this, slot));
        }
        head++;
        if (head == completionEntries) {
            head = 0;
            phase ^= 1;
        }
        unreported++;
        if (unreported >= ringThreshold) {
            reportHead();
        }
        return Integer.toUnsignedLong(last);
    }

    /** Reports to the controller which completions were taken. */
    private void reportHead() {
        registers.write(headDoorbell, head);
        unreported = 0;
    }

    @Override
    public boolean isAbandoned() {
        return resources.isAbandoned();
    }

    @Override
    boolean isConnected() {
        return true;
    }
}
