package org.jrdma.stress;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ResourceGrowthDetectionTest {

    private static final HeldResources FIRST = new HeldResources(5_000_000, 30, 10, 100_000_000);

    @Test
    void shouldDetectThatAnyResourceHasGrown() {
        assertThat(FIRST.isNoLessThan(FIRST)).isTrue();
        assertThat(FIRST.isNoLessThan(new HeldResources(5_800_000, 30, 10, 100_000_000))).isFalse();
        assertThat(FIRST.isNoLessThan(new HeldResources(5_000_000, 35, 10, 100_000_000))).isFalse();
        assertThat(FIRST.isNoLessThan(new HeldResources(5_000_000, 30, 15, 100_000_000))).isFalse();
        assertThat(FIRST.isNoLessThan(new HeldResources(5_000_000, 30, 10, 140_000_000))).isFalse();
    }

    @Test
    void shouldCountTheResourcesOfThisProcess() throws Exception {
        var held = HeldResources.now();

        assertThat(held.heapBytes()).isPositive();
        assertThat(held.descriptors()).isGreaterThan(3);
        assertThat(held.threads()).isPositive();
        assertThat(held.residentBytes()).isGreaterThan(held.heapBytes());
    }
}
