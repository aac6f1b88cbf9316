package org.example;

import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.jrdma.soft.junit.SoftFabricTest;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.model.Access;

class WriteTest {

    @SoftFabricTest(devices = 2, loss = 0.05)
    void shouldWriteIntoTheOtherDevicesMemory(Device sender, Device receiver) throws Exception {
        try (var ourDomain = sender.newProtectionDomain();
                var theirDomain = receiver.newProtectionDomain();
                var ourMemory = ourDomain.newArena(Access.LOCAL_WRITE);
                var theirMemory = theirDomain.newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
                var ourCompletions = sender.newCompletionDispatcher(16);
                var theirCompletions = receiver.newCompletionDispatcher(16);
                var ours = ourDomain.newReliableQueuePair(ourCompletions);
                var theirs = theirDomain.newReliableQueuePair(theirCompletions)) {
            ours.connect(theirs.endpoint());
            theirs.connect(ours.endpoint());
            var source = ourMemory.region(64);
            var target = theirMemory.region(64);
            source.segment().setString(0, "hello");
            ours.write(source.slice(), target.remote()).await(ofSeconds(10));
            assertEquals("hello", target.segment().getString(0));
        }
    }
}
