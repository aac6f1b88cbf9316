package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class WakeUpMarksTest {

    private static final int EVENTS = 200_000;

    private final List<String> scans = new ArrayList<>();
    private Node node;
    private WakeUpMarks marks;
    private RemoteMap memory;
    private long lastMark;

    @BeforeEach
    void open(@TempDir Path folder) throws Exception {
        node = Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))).open();
        marks = WakeUpMarks.create(node);
        memory = node.connect(node.id(), marks.segment().id(), Duration.ofSeconds(2)).map();
    }

    @AfterEach
    void close() {
        node.close();
    }

    private int add(String name) {
        return marks.add(() -> scans.add(name));
    }

    private void mark(int slot) {
        memory.putLongRelease(WakeUpMarks.offset(slot), ++lastMark);
    }

    private boolean scanMarked() {
        return marks.scanMarked(() -> scans.add("all"));
    }

    @Test
    void shouldScanEachMarkedStreamOnce() {
        add("a");
        var b = add("b");
        var c = add("c");
        mark(c);
        mark(b);
        mark(b);

        assertThat(scanMarked()).isTrue();
        assertThat(scanMarked()).isFalse();

        assertThat(scans).containsExactly("b", "c");
    }

    @Test
    void shouldIgnoreTheMarkOfAFreeSlot() {
        var slot = add("a");
        marks.remove(slot);
        mark(slot);

        scanMarked();
        assertThat(add("b")).isEqualTo(slot);
        scanMarked();

        assertThat(scans).isEmpty();
    }

    @Test
    void shouldScanAllStreamsIfThereAreMoreThanSlots() {
        var slots = new ArrayList<Integer>();
        for (var i = 1; i < WakeUpMarks.SLOTS; i++) {
            slots.add(add("a stream with a slot"));
        }
        assertThat(slots).doesNotHaveDuplicates().doesNotContain(WakeUpMarks.ALL);

        var slot = add("a stream without a slot");
        mark(slot);
        scanMarked();
        marks.remove(slot);

        assertThat(slot).isEqualTo(WakeUpMarks.ALL);
        assertThat(scans).containsExactly("all");
        marks.remove(slots.getLast());
        assertThat(add("another stream")).isEqualTo(slots.getLast());
    }

    /** A hostile peer can change any word of the segment. */
    @Test
    void shouldAcceptLaterConnectionsAfterAPeerHasChangedTheKind() throws Exception {
        memory.putLongRelease(0, 0);
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> WakeUpMarks.check(memory));

        add("a");

        WakeUpMarks.check(memory);
    }

    /** The last event must be found, because its mark follows it. */
    @Test
    void shouldNotLoseAMarkThatIsStoredDuringAScan() throws Exception {
        var events = new AtomicInteger();
        var found = new AtomicInteger();
        var slot = marks.add(() -> found.setRelease(events.getPlain()));
        var deadline = Deadline.after(Duration.ofSeconds(20));
        var peer =
                Thread.ofPlatform()
                        .daemon()
                        .start(() -> {
                            for (var i = 1; i <= EVENTS; i++) {
                                events.setPlain(i);
                                mark(slot);
                                while (i % 100 == 0
                                        && found.getAcquire() != i
                                        && !deadline.hasPassed()) {
                                    Thread.onSpinWait();
                                }
                            }
                        });

        while (found.get() != EVENTS && !deadline.hasPassed()) {
            scanMarked();
        }

        assertThat(found).hasValue(EVENTS);
        peer.join();
    }
}
