package org.jrdma.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;

class NativeObjectTest {

    private static final MemorySegment ADDRESS = MemorySegment.ofAddress(0x1234_5678L);

    private static final class TestObject extends NativeObject {
        TestObject(String name) {
            super(ADDRESS, new Lifetime(name, List.of(), () -> {}));
        }
    }

    @Test
    void shouldReturnItsAddressWhileOpen() {
        try (var thing = new TestObject("thing 7 of rxe0")) {
            assertThat(thing.address()).isEqualTo(ADDRESS);
            assertThat(thing.isOpen()).isTrue();
        }
    }

    @Test
    void shouldRejectTheUseOfItsAddressAfterClose() {
        var thing = new TestObject("thing 7 of rxe0");

        thing.close();

        assertThat(thing.isOpen()).isFalse();
        assertThatIllegalStateException()
                .isThrownBy(thing::address)
                .withMessage("thing 7 of rxe0 is closed");
    }

    @Test
    void shouldHaveTheNameOfItsLifetimeAfterClose() {
        var thing = new TestObject("thing 7 of rxe0");

        thing.close();

        assertThat(thing).hasToString("thing 7 of rxe0");
    }
}
