package org.jrdma.ffi.linkage;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import org.jrdma.ffi.ChildJvm;
import org.junit.jupiter.api.Test;

class UpcallsTest {

    private static final MethodType TYPE = MethodType.methodType(int.class, long.class, int.class);
    private static final MethodHandle MINUS_ONE =
            MethodHandles.dropArguments(
                    MethodHandles.constant(int.class, -1), 0, Throwable.class, long.class);

    private static int calls;

    private final Lookup lookup = MethodHandles.lookup();

    @SuppressWarnings("unused") // Called through a stub.
    private static int add(long first, int second) {
        calls++;
        return (int) first + second;
    }

    @SuppressWarnings("unused") // Called through a stub.
    private static int fail(long first, int second) {
        throw new OutOfMemoryError("thrown by the function, on purpose");
    }

    private int call(String name) throws Throwable {
        var function =
                new UpcallFunction(lookup.findStatic(UpcallsTest.class, name, TYPE), MINUS_ONE);
        var stub = Upcalls.stub(function);
        return (int) Downcalls.plain(Upcalls.descriptor(TYPE)).invokeExact(stub, 40L, 2);
    }

    @Test
    void shouldCallTheFunctionOnlyWhenCCallsIt() throws Throwable {
        calls = 0;

        assertThat(call("add")).isEqualTo(42);

        assertThat(calls).isOne();
    }

    @Test
    void shouldReturnTheResultForLackOfMemoryIfTheFunctionThrows() throws Throwable {
        assertThat(call("fail")).isEqualTo(-1);
    }

    @Test
    void shouldReturnTheResultForLackOfMemoryIfOptimizedCodeNeedsMemory() throws Exception {
        var child =
                ChildJvm.onClassPath(
                        FullHeapUpcallProgram.class,
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=4",
                        "-XX:-BackgroundCompilation",
                        "-XX:-CreateCoredumpOnCrash",
                        "-Xmx16m");

        assertThat(child.output()).contains("result -1");
        assertThat(child.exitCode()).isZero();
    }
}
