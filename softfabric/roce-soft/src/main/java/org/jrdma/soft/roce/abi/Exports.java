package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.ffi.linkage.Upcalls;
import org.jspecify.annotations.Nullable;

/**
 * Methods marked as {@link Exported}, as symbols. A stub is made when its symbol is first asked
 * for, since making all of them would take longer than most programs' start.
 */
final class Exports implements SymbolLookup {

    private final Map<String, Method> functions;
    private final @Nullable Object receiver;
    private final Map<String, MemorySegment> stubs = new ConcurrentHashMap<>();

    private Exports(Stream<Class<?>> classes, @Nullable Object receiver) {
        this.functions = marked(classes).collect(Collectors.toMap(Exports::name, method -> method));
        this.receiver = receiver;
    }

    /** The static methods of classes of this package. */
    static Exports of(Class<?>... classes) {
        return new Exports(Stream.of(classes), null);
    }

    /** The methods of an object of this package. */
    static Exports of(Object receiver) {
        return new Exports(Stream.of(receiver.getClass()), receiver);
    }

    private static Stream<Method> marked(Stream<Class<?>> classes) {
        return classes.flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Exported.class));
    }

    private static String name(Method method) {
        return method.getAnnotation(Exported.class).value();
    }

    private MemorySegment stub(Method method) {
        try {
            var handle = MethodHandles.lookup().unreflect(method);
            return Upcalls.stub(
                    method.getAnnotation(Exported.class)
                            .failure()
                            .guard(receiver == null ? handle : handle.bindTo(receiver)));
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public Optional<MemorySegment> find(String symbol) {
        var function = functions.get(symbol);
        return function == null
                ? Optional.empty()
                : Optional.of(stubs.computeIfAbsent(symbol, _ -> stub(function)));
    }
}
