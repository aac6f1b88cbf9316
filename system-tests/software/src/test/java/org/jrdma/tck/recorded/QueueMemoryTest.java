package org.jrdma.tck.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.jrdma.verbs.QueuePairOptions.reliable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.model.QueueMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests queues in memory of the caller. This provider requests 4096 bytes, aligned to 64, for each
 * queue.
 */
class QueueMemoryTest {

    @RegisterExtension private final Recorder recorder = Recorder.begin();
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        arena.close();
    }

    /** The requested and the freed blocks. */
    private final List<String> asked = new ArrayList<>();

    private QueueMemory giving(Optional<MemorySegment> memory) {
        return new QueueMemory() {
            @Override
            public Optional<MemorySegment> allocate(long bytes, long alignment, long resource) {
                asked.add("%d at %d for %x".formatted(bytes, alignment, resource));
                return memory;
            }

            @Override
            public void release(MemorySegment given, long resource) {
                asked.add("%s for %x".formatted(memory.orElseThrow().equals(given), resource));
            }
        };
    }

    private interface Use {
        void of(QueuePair queuePair) throws Exception;
    }

    private void withQueuePair(QueueMemory memory, Use use) throws Exception {
        try (var device = recorder.open();
                var domain = device.newProtectionDomain();
                var parent = domain.newParentDomainUnguarded(memory)) {
            assertThat(recorder.calls())
                    .anyMatch(line ->
                            line.startsWith("alloc_parent_domain ")
                                    && line.endsWith(" td=0 comp_mask=0x1"));
            try (var queuePair = parent.newQueuePair(reliable(device.newCompletionQueue(16)))) {
                use.of(queuePair);
            }
        }
    }

    @Test
    void shouldKeepAQueueInTheMemoryThatItIsGivenAndGiveItBack() throws Exception {
        var memory = arena.allocate(5000, 64);

        withQueuePair(
                giving(Optional.of(memory)),
                _ -> {
                    assertThat(asked).containsExactly("4096 at 64 for 51");
                    assertThat(memory.asSlice(0, 4096).toArray(ValueLayout.JAVA_BYTE))
                            .containsOnly(0x5a);
                    assertThat(memory.asSlice(4096).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
                });

        assertThat(asked).containsExactly("4096 at 64 for 51", "true for 51");
    }

    @Test
    void shouldLeaveTheChoiceToTheProviderByDefault() throws Exception {
        withQueuePair(giving(Optional.empty()), _ -> {});

        assertThat(asked).containsExactly("4096 at 64 for 51");
    }

    @Test
    void shouldMakeNothingInMemoryThatDoesNotSuit() {
        var memory = arena.allocate(8192, 64);
        for (var wrong :
                List.of(
                        memory.asSlice(0, 4095),
                        memory.asSlice(8, 4096),
                        MemorySegment.ofArray(new byte[4096]))) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> withQueuePair(giving(Optional.of(wrong)), _ -> {}))
                    .withMessageContaining("ENOMEM");
        }
    }

    @Test
    void shouldMakeNothingWhereItThrows() {
        var throwing =
                new QueueMemory() {
                    @Override
                    public Optional<MemorySegment> allocate(
                            long bytes, long alignment, long resource) {
                        throw new IllegalStateException("of the test's own making");
                    }

                    @Override
                    public void release(MemorySegment memory, long resource) {
                        throw new AssertionError("nothing was given");
                    }
                };
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> withQueuePair(throwing, _ -> {}))
                .withMessageContaining("ENOMEM");
    }

    @Test
    void shouldSurviveAReleaseThatThrows() throws Exception {
        var memory = arena.allocate(4096, 64);
        var throwing =
                new QueueMemory() {
                    @Override
                    public Optional<MemorySegment> allocate(
                            long bytes, long alignment, long resource) {
                        return Optional.of(memory);
                    }

                    @Override
                    public void release(MemorySegment given, long resource) {
                        throw new IllegalStateException("of the test's own making");
                    }
                };

        withQueuePair(throwing, _ -> {});

        assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 0x5a);
    }
}
