package org.jrdma.ffi.linkage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class RaisableDescriptorTest {

    @Test
    void shouldBeReadableWhileRaised() throws Exception {
        try (var event = RaisableDescriptor.open()) {
            event.raise();
            event.raise();
            event.lower();
            assertThat(TestDescriptors.drain(event.number())).isFalse();

            event.raise();
            assertThat(TestDescriptors.drain(event.number())).isTrue();
        }
    }

    @Test
    void shouldRejectUseAfterCloseBecauseTheNumberMayBeReused() throws Exception {
        var event = RaisableDescriptor.open();
        var number = event.number();
        event.close();

        for (var use : List.<ThrowingCallable>of(event::raise, event::lower, event::number)) {
            assertThatThrownBy(use)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("Descriptor %d is closed", number);
        }
    }

    @Test
    void shouldNotCloseALaterDescriptorWithTheSameNumber() throws Exception {
        while (true) {
            var closedDescriptor = RaisableDescriptor.open();
            var number = closedDescriptor.number();
            closedDescriptor.close();
            try (var later = RaisableDescriptor.open()) {
                if (later.number() == number) { // otherwise another thread took the number
                    closedDescriptor.close();
                    later.raise();
                    assertThat(TestDescriptors.drain(number)).isTrue();
                    return;
                }
            }
        }
    }
}
