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
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;

/** Runs the fuzzer on sisci-java, with two nodes of the software fabric in this JVM. */
final class SisciTarget implements Target {

    private static final int FIRST = 4;
    private static final int SECOND = 8;

    private final InetAddress address;
    private final Sisci first;
    private final Sisci second;

    SisciTarget(InetAddress address) throws IOException {
        this(address, Path.of(System.getProperty("jrdma.sisci.fabric")));
    }

    private SisciTarget(InetAddress address, Path fabric) throws IOException {
        this.address = address;
        this.first = node(fabric, FIRST);
        this.second = node(fabric, SECOND);
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

    @Override
    public void verify() throws Exception {
        try (var here = first.open();
                var there = second.open();
                var segment = there.newSegment(1000, 4096)) {
            segment.prepare();
            segment.makeAvailable();
            try (var remote = here.connect(SECOND, 1000, ofSeconds(10));
                    var map = remote.map();
                    var local = segment.map()) {
                map.putLongRelease(8, 42);
                map.flush();
                Target.check(local.getLongAcquire(8) == 42, "wrong word");
            }
        }
    }
}
