package org.example;

import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jrdma.soft.junit.SoftFabricTest;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.model.Access;

class WriteTest {

    @SoftFabricTest(devices = 2, loss = 0.05)
    void shouldWriteIntoMemoryOfTheOtherDevice(Device sender, Device receiver) throws Exception {
        try (var localDomain = sender.newProtectionDomain();
                var remoteDomain = receiver.newProtectionDomain();
                var localMemory = localDomain.newArena(Access.LOCAL_WRITE);
                var remoteMemory = remoteDomain.newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
                var localCompletions = sender.newCompletionDispatcher(16);
                var remoteCompletions = receiver.newCompletionDispatcher(16);
                var local = localDomain.newReliableQueuePair(localCompletions);
                var remote = remoteDomain.newReliableQueuePair(remoteCompletions)) {
            local.connect(remote.endpoint());
            remote.connect(local.endpoint());
            var source = localMemory.region(64);
            var target = remoteMemory.region(64);
            source.segment().setString(0, "hello");
            local.write(source.slice(), target.remote()).await(ofSeconds(10));
            assertEquals("hello", target.segment().getString(0));
        }
    }
}
