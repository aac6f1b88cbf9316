package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.ffi.linkage.Upcalls;

/**
 * Methods marked as {@link Exported}, as symbols. A stub is made when its symbol is first asked
 * for, since making all of them would take longer than most programs' start.
 */
final class Exports implements SymbolLookup {

    private final Map<String, MethodHandle> functions;
    private final Map<String, MemorySegment> stubs = new ConcurrentHashMap<>();

    private Exports(Map<String, MethodHandle> functions) {
        this.functions = functions;
    }

    /** The static methods of classes of this package. */
    static Exports of(Class<?>... classes) {
        return new Exports(
                marked(Stream.of(classes))
                        .collect(
                                Collectors.toMap(
                                        Exports::name, method -> guarded(method, handle(method)))));
    }

    /** The methods of an object of this package. */
    static Exports of(Object receiver) {
        return new Exports(
                marked(Stream.of(receiver.getClass()))
                        .collect(
                                Collectors.toMap(
                                        Exports::name,
                                        method ->
                                                guarded(method, handle(method).bindTo(receiver)))));
    }

    private static Stream<Method> marked(Stream<Class<?>> classes) {
        return classes.flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Exported.class));
    }

    private static String name(Method method) {
        return method.getAnnotation(Exported.class).value();
    }

    private static MethodHandle handle(Method method) {
        try {
            return MethodHandles.lookup().unreflect(method);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    private static MethodHandle guarded(Method method, MethodHandle handle) {
        return method.getAnnotation(Exported.class).failure().guard(handle);
    }

    @Override
    public Optional<MemorySegment> find(String symbol) {
        var function = functions.get(symbol);
        return function == null
                ? Optional.empty()
                : Optional.of(stubs.computeIfAbsent(symbol, name -> Upcalls.stub(function)));
    }
}
