package org.jrdma.stress.fuzz;

import static java.time.Duration.ofSeconds;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.DmaTransferRequest;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.MapOptions;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.BorrowedDevice;
import org.jrdma.sisci.smartio.DeviceSegmentOptions;
import org.jrdma.sisci.smartio.SmartIo;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.device.EduDevice;

/**
 * Runs the fuzzer on sisci-java, with two nodes of the software fabric in this JVM. A third node
 * lends a device to them.
 */
final class SisciTarget implements Target {

    private static final int FIRST = 4;
    private static final int SECOND = 8;
    private static final int LENDER = 12;

    // The registers of the device. The Javadoc of EduDevice describes them.
    private static final int DMA_SOURCE = 0x80;
    private static final int DMA_DESTINATION = 0x88;
    private static final int DMA_COUNT = 0x90;
    private static final int DMA_COMMAND = 0x98;
    private static final int MESSAGE_ADDRESS = 0xa0;
    private static final int START = 1;
    private static final int FROM_DEVICE = 1 << 1;
    private static final int INTERRUPT = 1 << 2;
    private static final int FAILED = 1 << 3;

    /** The DMA address of the buffer in the device. */
    private static final long BUFFER = 0x40000;

    private static final long COPIED = 4096;

    /** The id of a segment that other processes of the nodes do not use. */
    private static final int ID = 1000 + (int) ProcessHandle.current().pid();

    private final InetAddress address;
    private final Sisci first;
    private final Sisci second;

    /** Keeps the lender in the fabric. */
    @SuppressWarnings("UnusedVariable")
    private final Node lenderNode;

    private final long device;

    SisciTarget(InetAddress address) throws IOException {
        this(address, Path.of(System.getProperty("jrdma.sisci.fabric")));
    }

    private SisciTarget(InetAddress address, Path fabric) throws IOException {
        this.address = address;
        this.first = node(fabric, FIRST);
        this.second = node(fabric, SECOND);
        var lender = new SoftSisci(SoftSisciOptions.in(fabric).node(LENDER));
        this.lenderNode = Sisci.from(lender).open();
        this.device = lender.lend(new EduDevice()).fabricDeviceId();
    }

    private static Sisci node(Path fabric, int id) throws IOException {
        return Sisci.from(new SoftSisci(SoftSisciOptions.in(fabric).node(id)));
    }

    @Override
    public List<Class<?>> modules() {
        return List.of(FabricException.class, Sisci.class);
    }

    @Override
    public InetAddress address() {
        return address;
    }

    @Override
    public boolean isRoot(Object object) {
        return object instanceof Node;
    }

    @Override
    public void seed(Consumer<Object> keep) throws Exception {
        keep.accept(first);
        keep.accept(second);
        var id = 1 + new Random().nextInt(50);
        var here = first.open();
        keep.accept(here);
        var there = second.open();
        keep.accept(there);
        var segment = there.newSegment(id, 8192);
        keep.accept(segment);
        segment.prepare();
        segment.makeAvailable();
        keep.accept(segment.map());
        var remote = here.connect(SECOND, id, ofSeconds(1));
        keep.accept(remote);
        var map = remote.map();
        keep.accept(map);
        keep.accept(map.newSequence());
        var source = here.newSegment(id + 100, 8192);
        keep.accept(source);
        source.prepare();
        seedDevice(here, source, remote, keep);
        keep.accept(here.newDmaQueue(4));
        keep.accept(DmaTransferRequest.push(source, 0, remote, 0, 4096));
        var interrupt = there.newInterrupt();
        keep.accept(interrupt);
        keep.accept(here.connectInterrupt(SECOND, interrupt.number(), ofSeconds(1)));
        var data = there.newDataInterrupt();
        keep.accept(data);
        keep.accept(here.connectDataInterrupt(SECOND, data.number(), ofSeconds(1)));
        keep.accept(there.newMessageQueue(id + 200, 4096));
        keep.accept(here.connectMessageQueue(SECOND, id + 200, ofSeconds(1)));
    }

    /** Borrows the device and starts a transfer, during which its objects may be closed. */
    private void seedDevice(
            Node node, LocalSegment local, RemoteSegment remote, Consumer<Object> keep)
            throws Exception {
        var smartIo = SmartIo.of(node);
        keep.accept(smartIo);
        smartIo.devices().forEach(keep);
        var borrowed = smartIo.borrow(device, BorrowMode.SHARED);
        keep.accept(borrowed);
        keep.accept(borrowed.bar(0));
        var registers = registers(borrowed);
        keep.accept(registers);
        var options = DeviceSegmentOptions.of(new Random().nextInt(50), COPIED);
        keep.accept(options);
        keep.accept(borrowed.newDeviceSegment(options));
        var target = borrowed.map(remote);
        keep.accept(target);
        var mapping = borrowed.map(local);
        keep.accept(mapping);
        registers.putLong(MESSAGE_ADDRESS, mapping.ioAddress() + COPIED);
        start(registers, BUFFER, target.ioAddress(), FROM_DEVICE | INTERRUPT);
    }

    private static RemoteMap registers(BorrowedDevice device) throws Exception {
        return device.bar(0).map(MapOptions.WHOLE.with(MapOptions.Flag.UNCACHED));
    }

    @Override
    public void verify() throws Exception {
        verifySegments();
        verifyDevice();
    }

    private void verifySegments() throws Exception {
        try (var here = first.open();
                var there = second.open();
                var segment = there.newSegment(ID, 4096)) {
            segment.prepare();
            segment.makeAvailable();
            try (var remote = here.connect(SECOND, ID, ofSeconds(10));
                    var map = remote.map();
                    var local = segment.map()) {
                map.putLongRelease(8, 42);
                map.flush();
                Target.check(local.getLongAcquire(8) == 42, "wrong word");
            }
        }
    }

    private void verifyDevice() throws Exception {
        try (var node = first.open();
                var borrowed = SmartIo.of(node).borrow(device, BorrowMode.SHARED);
                var segment = node.newSegment(ID, 2 * COPIED);
                var memory = segment.map();
                var registers = registers(borrowed)) {
            segment.prepare();
            memory.segment().asSlice(0, COPIED).fill((byte) 0x5a);
            var ioAddress = borrowed.map(segment).ioAddress();
            transfer(registers, ioAddress, BUFFER, 0);
            transfer(registers, BUFFER, ioAddress + COPIED, FROM_DEVICE);
            var source = memory.segment().asSlice(0, COPIED);
            var copy = memory.segment().asSlice(COPIED);
            Target.check(source.mismatch(copy) < 0, "wrong bytes from the device");
        }
    }

    private static void transfer(RemoteMap registers, long source, long destination, int direction)
            throws InterruptedException {
        start(registers, source, destination, direction);
        var end = System.nanoTime() + ofSeconds(10).toNanos();
        while ((registers.getIntAcquire(DMA_COMMAND) & START) != 0 && System.nanoTime() - end < 0) {
            Thread.sleep(1);
        }
        var command = registers.getIntAcquire(DMA_COMMAND);
        Target.check((command & (START | FAILED)) == 0, "DMA failed: 0x%x".formatted(command));
    }

    private static void start(RemoteMap registers, long source, long destination, int flags) {
        registers.putLong(DMA_SOURCE, source);
        registers.putLong(DMA_DESTINATION, destination);
        registers.putLong(DMA_COUNT, COPIED);
        registers.putIntRelease(DMA_COMMAND, START | flags);
        registers.flush();
    }
}
