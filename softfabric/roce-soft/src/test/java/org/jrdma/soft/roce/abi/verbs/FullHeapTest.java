package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.ffi.linkage.Upcalls;
import org.jrdma.processes.Program;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.jrdma.soft.roce.abi.cm.ConnectionExports;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the exported functions in a JVM whose heap is full. An exception that an upcall throws ends
 * the JVM, so each function must return an error code instead.
 */
class FullHeapTest {

    private static final String SURVIVED = "The JVM has survived, failed calls: ";

    /** The number of calls of a function. The JVM optimizes method handles after 127 calls. */
    private static final int CALLS = 200;

    private static @Nullable Object filler;

    @Tag("slow")
    @Test
    void shouldReturnErrorCodesInsteadOfEndingTheJvm() throws Exception {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx24m",
                        "-XX:-CreateCoredumpOnCrash",
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                        "-cp",
                        Stream.of(
                                        Path.of("target/test-classes").toString(),
                                        System.getProperty("jdk.module.path", ""),
                                        System.getProperty("java.class.path", ""))
                                .filter(path -> !path.isEmpty())
                                .collect(Collectors.joining(File.pathSeparator)),
                        FullHeapTest.class.getName()));
        try (var program = Program.start(command)) {
            assertThat(program.await()).as(program.output()).isZero();

            var output = program.output().lines().toList();
            assertThat(output).filteredOn(line -> line.startsWith(SURVIVED)).hasSize(1);
            var failed = output.getLast().substring(SURVIVED.length());
            assertThat(Integer.parseInt(failed)).isPositive();
        }
    }

    /** The program that runs in the other JVM. */
    public static void main(String[] arguments) throws Throwable {
        var device = ExportedFunctionTestSupport.newDevice();
        var library = new VerbsLibrary(List.of(device));
        var functions = functions(library.or(ConnectionExports.library(List.of(device))));
        try (var arena = Arena.ofConfined()) {
            var context =
                    (long)
                            function(library, "ibv_open_device", long.class, long.class)
                                    .invokeExact(device.structure().address());
            var allocateDomain = function(library, "ibv_alloc_pd", long.class, long.class);
            var destroyDomain = function(library, "ibv_dealloc_pd", int.class, long.class);
            var domain = (long) allocateDomain.invokeExact(context);
            var memory = arena.allocate(64).address();
            var register =
                    function(
                            library,
                            "ibv_reg_mr",
                            long.class,
                            long.class,
                            long.class,
                            long.class,
                            int.class);
            var failed = 0;
            fillHeap();
            for (var function : functions) {
                function.run();
            }
            for (var i = 0; i < CALLS; i++) {
                try {
                    failed += (long) allocateDomain.invokeExact(context) == 0 ? 1 : 0;
                    failed += (long) register.invokeExact(domain, memory, 64L, 1) == 0 ? 1 : 0;
                } catch (OutOfMemoryError e) {
                    // This program ran out of memory, not the function.
                }
            }
            filler = null;

            var again = (long) allocateDomain.invokeExact(context);
            if (again == 0 || (int) destroyDomain.invokeExact(again) != 0) {
                throw new AssertionError("The library no longer works.");
            }
            System.out.println(SURVIVED + failed);
        }
        System.exit(0);
    }

    /** Returns a call of each exported function with zeros as arguments. */
    @SuppressWarnings("restricted")
    private static Runnable[] functions(SymbolLookup library) {
        var calls = new ArrayList<Runnable>();
        ExportedSymbolsTest.functions()
                .forEach(method -> {
                    var name = method.getAnnotation(Exported.class).value();
                    var type =
                            MethodType.methodType(
                                    method.getReturnType(), method.getParameterTypes());
                    var handle =
                            Linker.nativeLinker()
                                    .downcallHandle(
                                            library.find(name).orElseThrow(),
                                            Upcalls.descriptor(type));
                    var zeros = new Object[type.parameterCount()];
                    for (var i = 0; i < zeros.length; i++) {
                        zeros[i] = MethodHandles.zero(type.parameterType(i));
                    }
                    var bound = handle;
                    for (var zero : zeros) {
                        bound = MethodHandles.collectArguments(bound, 0, (MethodHandle) zero);
                    }
                    var call = bound.asType(MethodType.methodType(void.class));
                    calls.add(() -> {
                        try {
                            call.invokeExact();
                        } catch (OutOfMemoryError e) {
                            // This program ran out of memory, not the function.
                        } catch (Throwable e) {
                            throw new AssertionError(name, e);
                        }
                    });
                });
        return calls.toArray(Runnable[]::new);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(
            SymbolLookup library, String name, Class<?> result, Class<?>... parameters) {
        return Linker.nativeLinker()
                .downcallHandle(
                        library.find(name).orElseThrow(),
                        Upcalls.descriptor(MethodType.methodType(result, parameters)));
    }

    /** Allocates all of the heap. The memory is freed when {@link #filler} is set to null. */
    private static void fillHeap() {
        for (var bytes = 1 << 20; bytes >= 16; bytes /= 4) {
            try {
                while (true) {
                    filler = new Object[] {filler, new byte[bytes]};
                }
            } catch (OutOfMemoryError e) {
                // A smaller array may still fit.
            }
        }
    }
}
