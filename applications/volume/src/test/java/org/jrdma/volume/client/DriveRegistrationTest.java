package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jrdma.volume.drive.PermissiveFence;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DriveRegistrationTest {

    private final List<Long> registered = new CopyOnWriteArrayList<>();
    private final DriveRegistration registration =
            new DriveRegistration(
                    "client",
                    Optional.of(
                            new PermissiveFence() {
                                @Override
                                public void register(long key) {
                                    registered.add(key);
                                }

                                @Override
                                public void unregister(long key) {
                                    registered.remove(key);
                                }
                            }));

    @Test
    void shouldRemoveTheRegistrationAfterTheLastAccess() throws Exception {
        registration.register(1);
        var key = registration.key();
        Thread end;
        var access = registration.access();
        access.lock();
        try {
            end = Thread.ofPlatform().start(registration::end);
            while (end.getState() != Thread.State.WAITING) {
                Thread.sleep(5);
            }
            assertThat(registered).containsExactly(key);
        } finally {
            access.unlock();
        }
        end.join();
        assertThat(registered).isEmpty();
    }

    @Test
    void shouldNotRegisterAfterTheEnd() {
        registration.end();
        registration.register(1);
        registration.registerIfFailed();

        assertThat(registered).isEmpty();
    }
}
