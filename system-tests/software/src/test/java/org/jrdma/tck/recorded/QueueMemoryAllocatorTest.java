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
import org.jrdma.verbs.model.QueueMemoryAllocator;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests queues in memory that the program allocates. The provider of the recording library requests
 * 4096 bytes, aligned to 64 bytes, for each queue pair.
 */
class QueueMemoryAllocatorTest {

    @RegisterExtension private final Recorder recorder = Recorder.begin();
    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        arena.close();
    }

    /** The calls of allocate and release, as text. */
    private final List<String> calls = new ArrayList<>();

    private QueueMemoryAllocator returning(Optional<MemorySegment> memory) {
        return new QueueMemoryAllocator() {
            @Override
            public Optional<MemorySegment> allocate(long bytes, long alignment, long resource) {
                calls.add("%d at %d for %x".formatted(bytes, alignment, resource));
                return memory;
            }

            @Override
            public void release(MemorySegment released, long resource) {
                calls.add("%s for %x".formatted(memory.orElseThrow().equals(released), resource));
            }
        };
    }

    private interface Use {
        void of(QueuePair queuePair) throws Exception;
    }

    private void withQueuePair(QueueMemoryAllocator memory, Use use) throws Exception {
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
    void shouldPlaceAQueueInTheProgramsMemoryAndReleaseIt() throws Exception {
        var memory = arena.allocate(5000, 64);

        withQueuePair(
                returning(Optional.of(memory)),
                _ -> {
                    assertThat(calls).containsExactly("4096 at 64 for 51");
                    assertThat(memory.asSlice(0, 4096).toArray(ValueLayout.JAVA_BYTE))
                            .containsOnly(0x5a);
                    assertThat(memory.asSlice(4096).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
                });

        assertThat(calls).containsExactly("4096 at 64 for 51", "true for 51");
    }

    @Test
    void shouldLetTheProviderAllocateIfTheProgramReturnsNoMemory() throws Exception {
        withQueuePair(returning(Optional.empty()), _ -> {});

        assertThat(calls).containsExactly("4096 at 64 for 51");
    }

    @Test
    void shouldRejectMemoryThatIsTooShortMisalignedOrNotNative() {
        var memory = arena.allocate(8192, 64);
        for (var wrong :
                List.of(
                        memory.asSlice(0, 4095),
                        memory.asSlice(8, 4096),
                        MemorySegment.ofArray(new byte[4096]))) {
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> withQueuePair(returning(Optional.of(wrong)), _ -> {}))
                    .withMessageContaining("ENOMEM");
        }
    }

    @Test
    void shouldFailIfTheAllocationThrows() {
        var throwing =
                new QueueMemoryAllocator() {
                    @Override
                    public Optional<MemorySegment> allocate(
                            long bytes, long alignment, long resource) {
                        throw new IllegalStateException("thrown on purpose");
                    }

                    @Override
                    public void release(MemorySegment memory, long resource) {
                        throw new AssertionError("unexpected call of release");
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
                new QueueMemoryAllocator() {
                    @Override
                    public Optional<MemorySegment> allocate(
                            long bytes, long alignment, long resource) {
                        return Optional.of(memory);
                    }

                    @Override
                    public void release(MemorySegment released, long resource) {
                        throw new IllegalStateException("thrown on purpose");
                    }
                };

        withQueuePair(throwing, _ -> {});

        assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 0x5a);
    }
}
