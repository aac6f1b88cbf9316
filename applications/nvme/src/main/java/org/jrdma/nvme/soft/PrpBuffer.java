package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.Status;
import org.jrdma.soft.sisci.device.DeviceBus;

/** The memory of a borrower that a command specifies by PRP entries. */
final class PrpBuffer extends HostDataBuffer {

    /** The native copy that survives an error of mapped memory is used above this size. */
    private static final int SMALL_BYTES = 64;

    private static final ValueLayout.OfLong ENTRY = JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int MAX_PIECES = (1 << MAX_TRANSFER_SHIFT) + 1;

    private final DeviceBus bus;
    private final MemorySegment list =
            Arena.ofAuto().allocate(Configuration.PAGE_BYTES, Long.BYTES);
    private final long[] addresses = new long[MAX_PIECES];
    private final int[] lengths = new int[MAX_PIECES];
    private int pieces;
    private int borrower = DeviceBus.NO_BORROWER;

    PrpBuffer(DeviceBus bus) {
        this.bus = bus;
    }

    /** Sets the only borrower whose memory the next command may access. */
    void owner(int newBorrower) {
        borrower = newBorrower;
    }

    @Override
    void select(Command command, int bytes) throws CommandException {
        pieces = 0;
        var first = command.prp1();
        CommandException.require(first % Integer.BYTES == 0, Status.PRP_OFFSET_INVALID);
        var firstBytes = Math.min(bytes, Configuration.PAGE_BYTES - offsetInPage(first));
        add(first, firstBytes);
        var left = bytes - firstBytes;
        if (left > Configuration.PAGE_BYTES) {
            selectList(command.prp2(), left);
        } else if (left > 0) {
            addPage(command.prp2(), left);
        }
    }

    /**
     * Adds the pages of a list. If a list page is too small, its last entry is the address of the
     * next list page. Ends, because each further list page contributes at least 511 entries.
     */
    private void selectList(long firstList, int bytes) throws CommandException {
        var address = firstList;
        CommandException.require(address % Long.BYTES == 0, Status.PRP_OFFSET_INVALID);
        var left = bytes;
        while (left > 0) {
            var needed = Math.ceilDiv(left, Configuration.PAGE_BYTES);
            var entries =
                    Math.min(
                            needed,
                            (Configuration.PAGE_BYTES - offsetInPage(address)) / Long.BYTES);
            CommandException.require(
                    bus.borrowerAt(address) == borrower
                            && bus.read(address, list.asSlice(0, (long) entries * Long.BYTES)),
                    Status.DATA_TRANSFER_ERROR);
            var isLast = entries == needed;
            var pages = isLast ? entries : entries - 1;
            for (var i = 0; i < pages; i++) {
                var length = Math.min(left, Configuration.PAGE_BYTES);
                addPage(list.getAtIndex(ENTRY, i), length);
                left -= length;
            }
            if (!isLast) {
                address = list.getAtIndex(ENTRY, entries - 1);
                CommandException.require(offsetInPage(address) == 0, Status.PRP_OFFSET_INVALID);
            }
        }
    }

    private void addPage(long address, int length) throws CommandException {
        CommandException.require(offsetInPage(address) == 0, Status.PRP_OFFSET_INVALID);
        add(address, length);
    }

    private void add(long address, int length) throws CommandException {
        CommandException.require(bus.borrowerAt(address) == borrower, Status.DATA_TRANSFER_ERROR);
        if (pieces > 0 && addresses[pieces - 1] + lengths[pieces - 1] == address) {
            lengths[pieces - 1] += length;
        } else {
            addresses[pieces] = address;
            lengths[pieces] = length;
            pieces++;
        }
    }

    private static int offsetInPage(long address) {
        return (int) (address & (Configuration.PAGE_BYTES - 1));
    }

    @Override
    boolean hasSmallPieces() {
        for (var i = 0; i < pieces; i++) {
            if (lengths[i] <= SMALL_BYTES) {
                return true;
            }
        }
        return false;
    }

    @Override
    void write(MemorySegment source, long offset) throws CommandException {
        var from = offset;
        for (var i = 0; i < pieces; i++) {
            CommandException.require(
                    bus.write(addresses[i], source.asSlice(from, lengths[i])),
                    Status.DATA_TRANSFER_ERROR);
            from += lengths[i];
        }
    }

    @Override
    void read(MemorySegment target, long offset) throws CommandException {
        var to = offset;
        for (var i = 0; i < pieces; i++) {
            CommandException.require(
                    bus.read(addresses[i], target.asSlice(to, lengths[i])),
                    Status.DATA_TRANSFER_ERROR);
            to += lengths[i];
        }
    }
}
