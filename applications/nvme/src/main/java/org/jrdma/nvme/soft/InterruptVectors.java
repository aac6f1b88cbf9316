package org.jrdma.nvme.soft;

import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.soft.sisci.device.DeviceBus;

/** The table of interrupt vectors (MSI-X) in BAR 0, which drivers write. */
final class InterruptVectors {

    private static final long TABLE = 0x2000;
    private static final int ENTRY_BYTES = 16;
    private static final int DATA = 8;
    private static final int CONTROL = 12;
    private static final int MASKED = 1;

    private final DeviceBus bus;
    private final MappedRegisters registers;

    InterruptVectors(DeviceBus bus, MappedRegisters registers) {
        this.bus = bus;
        this.registers = registers;
    }

    /** Sends the pending interrupts of all queues. */
    void send(QueueSet queues) {
        for (var queue = 0; queue <= QueueSet.MAX_IO_QUEUES; queue++) {
            var completion = queues.completion(queue);
            if (completion != null && completion.isInterruptPending()) {
                send(completion);
            }
        }
    }

    /** Sends the message of a vector, unless it is masked or addresses another borrower. */
    private void send(CompletionQueue queue) {
        var entry = entry(queue.vector());
        if ((registers.read(entry + CONTROL) & MASKED) != 0) {
            return;
        }
        queue.interruptSent();
        var address = registers.readLong(entry);
        if (address != 0 && bus.borrowerAt(address) == queue.borrower()) {
            var _ = bus.signal(address, registers.read(entry + DATA));
        }
    }

    /**
     * Clears the addresses that belong to no borrower any more, because a later borrower may get
     * the same addresses.
     */
    void clearUnused() {
        for (var vector = 0; vector < QueueSet.VECTORS; vector++) {
            var entry = entry(vector);
            var address = registers.readLong(entry);
            if (address != 0 && bus.borrowerAt(address) == DeviceBus.NO_BORROWER) {
                registers.writeLong(entry, 0);
            }
        }
    }

    private static long entry(int vector) {
        return TABLE + (long) vector * ENTRY_BYTES;
    }
}
