package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Stream;
import org.jrdma.abi.rdma.ibv_context_ops;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.linkage.Upcalls;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.cm.ConnectionExports;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the symbols that C programs find, and the signatures of the functions. */
class ExportedSymbolsTest {

    private static final SymbolLookup LIBRARY =
            new VerbsLibrary(List.of()).or(ConnectionExports.library(List.of()));

    static Stream<Method> functions() {
        return Stream.of(
                        VerbsLibrary.class,
                        DeviceExports.class,
                        DomainAndMemoryExports.class,
                        CompletionExports.class,
                        QueuePairExports.class,
                        SharedReceiveQueueExports.class,
                        ConnectionExports.class)
                .flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Exported.class));
    }

    @ParameterizedTest
    @MethodSource("functions")
    void shouldHaveTheSignaturesThatTheHeaderDeclares(Method function) throws Exception {
        var name = function.getAnnotation(Exported.class).value();
        var header = (FunctionDescriptor) rdma_h.class.getMethod(name + "$descriptor").invoke(null);

        assertThat(descriptor(function)).isEqualTo(withNumbersForPointers(header));
    }

    @Test
    void shouldHaveTheSignaturesThatTheContextDeclares() throws Exception {
        assertThat(descriptor(ControlPathFunctions.class, "queryPort"))
                .isEqualTo(withNumbersForPointers(verbs_context.query_port.descriptor()));
        assertThat(descriptor(ControlPathFunctions.class, "queryDevice"))
                .isEqualTo(withNumbersForPointers(verbs_context.query_device_ex.descriptor()));
        assertThat(descriptor(ControlPathFunctions.class, "allocateNullRegion"))
                .isEqualTo(withNumbersForPointers(verbs_context.alloc_null_mr.descriptor()));
        assertThat(descriptor(WindowAndDeviceMemoryFunctions.class, "advise"))
                .isEqualTo(withNumbersForPointers(verbs_context.advise_mr.descriptor()));
        assertThat(descriptor(WindowAndDeviceMemoryFunctions.class, "allocateWindow"))
                .isEqualTo(withNumbersForPointers(ibv_context_ops.alloc_mw.descriptor()));
        assertThat(descriptor(WindowAndDeviceMemoryFunctions.class, "bindWindow"))
                .isEqualTo(withNumbersForPointers(ibv_context_ops.bind_mw.descriptor()));
        assertThat(descriptor(WindowAndDeviceMemoryFunctions.class, "deallocateWindow"))
                .isEqualTo(withNumbersForPointers(ibv_context_ops.dealloc_mw.descriptor()));
    }

    @ParameterizedTest
    @MethodSource("functions")
    void shouldHaveAnErrorConventionThatFitsTheResultType(Method function) {
        var failure = function.getAnnotation(Exported.class).failure();

        assertThat(function.getReturnType())
                .isEqualTo(
                        switch (failure) {
                            case ERRNO, MINUS_ONE -> int.class;
                            case NEGATIVE_ERRNO, NULL -> long.class;
                            case NONE -> function.getReturnType();
                        });
    }

    @ParameterizedTest
    @MethodSource("functions")
    void shouldBeFoundByName(Method function) {
        var name = function.getAnnotation(Exported.class).value();

        assertThat(LIBRARY.find(name)).isPresent().isEqualTo(LIBRARY.find(name));
    }

    @Test
    void shouldFindTheFunctionsForAddressesByName() {
        assertThat(LIBRARY.find("rdma_getaddrinfo")).isPresent();
        assertThat(LIBRARY.find("rdma_freeaddrinfo")).isPresent();
    }

    @Test
    void shouldNotExportUnsupportedFunctions() {
        assertThat(LIBRARY.find("ibv_create_flow")).isEmpty();
        assertThat(LIBRARY.find("no_such_function")).isEmpty();
    }

    private static FunctionDescriptor descriptor(Class<?> type, String method) {
        return Stream.of(type.getDeclaredMethods())
                .filter(declared -> declared.getName().equals(method))
                .map(ExportedSymbolsTest::descriptor)
                .findFirst()
                .orElseThrow();
    }

    private static FunctionDescriptor descriptor(Method method) {
        return Upcalls.descriptor(
                MethodType.methodType(method.getReturnType(), method.getParameterTypes()));
    }

    /** Returns a signature in which each pointer is replaced by a 64-bit number. */
    private static FunctionDescriptor withNumbersForPointers(FunctionDescriptor header) {
        var arguments =
                header.argumentLayouts().stream()
                        .map(ExportedSymbolsTest::number)
                        .toArray(MemoryLayout[]::new);
        return header.returnLayout()
                .map(result -> FunctionDescriptor.of(number(result), arguments))
                .orElseGet(() -> FunctionDescriptor.ofVoid(arguments));
    }

    private static MemoryLayout number(MemoryLayout layout) {
        return layout instanceof AddressLayout ? ValueLayout.JAVA_LONG : layout.withoutName();
    }
}
