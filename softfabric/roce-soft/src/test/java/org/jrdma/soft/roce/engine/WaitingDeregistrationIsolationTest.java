package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Random;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.MemoryRegion;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that a deregistration that waits for a memory access to end does not block other threads.
 */
class WaitingDeregistrationIsolationTest {

    private final MemoryRegistry registry = new MemoryRegistry(new Random(1));
    private final ProtectionDomain domain = new ProtectionDomain();

    private MemoryRegion register() {
        var memory = Arena.ofAuto().allocate(64);
        return registry.register(domain, memory, memory.address(), Access.LOCAL_WRITE);
    }

    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldNotBlockRegistrationsWhileItWaits() throws Exception {
        var region = register();
        assertThat(region.enter()).isTrue();
        var waiting = Thread.ofPlatform().daemon().start(() -> registry.deregister(region));
        while (region.enter()) { // Waits until the deregistration has closed the region.
            region.exit();
        }

        registry.deregister(register());

        assertThat(waiting.isAlive()).isTrue();
        region.exit();
        assertThat(waiting.join(Duration.ofSeconds(10))).isTrue();
    }
}
