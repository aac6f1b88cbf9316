package org.jrdma.stress.fuzz;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.lang.reflect.Executable;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Creates random arguments for calls of the API. Used by one thread. */
final class RandomArguments {

    private static final int[] INTEGERS = {
        -1,
        0,
        0,
        1,
        1,
        1,
        2,
        3,
        4,
        7,
        8,
        16,
        31,
        63,
        64,
        100,
        255,
        256,
        4095,
        4096,
        65_535,
        65_536,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE
    };
    private static final long[] LONGS = {
        -1,
        0,
        0,
        1,
        2,
        7,
        8,
        8,
        16,
        64,
        64,
        100,
        4088,
        4095,
        4096,
        4096,
        65_536,
        0xffff_ffffL,
        1L << 40,
        Long.MAX_VALUE,
        Long.MIN_VALUE,
        Long.MAX_VALUE - 4095
    };
    private static final int[] SIZES = {0, 1, 7, 8, 56, 64, 100, 148, 196, 256, 4096, 5000, 70_000};
    private static final List<String> STRINGS =
            List.of("", "soft0", "null0", "127.0.0.1", "::1", "%s\0\u001b[31m", "x".repeat(10_000));
    private static final List<Duration> SHORT =
            List.of(Duration.ZERO, Duration.ofNanos(1), Duration.ofMillis(1), Duration.ofMillis(2));
    private static final List<Duration> LONG =
            List.of(
                    Duration.ofNanos(-1),
                    Duration.ofSeconds(Long.MIN_VALUE),
                    Duration.ofDays(400),
                    Duration.ofSeconds(Long.MAX_VALUE, 999_999_999));
    private static final List<SocketOption<?>> OPTIONS =
            List.of(
                    StandardSocketOptions.SO_RCVBUF,
                    StandardSocketOptions.SO_SNDBUF,
                    StandardSocketOptions.SO_REUSEADDR,
                    StandardSocketOptions.SO_KEEPALIVE,
                    StandardSocketOptions.SO_LINGER,
                    StandardSocketOptions.TCP_NODELAY,
                    StandardSocketOptions.IP_TOS,
                    StandardSocketOptions.IP_MULTICAST_TTL);
    private static final List<Path> PATHS =
            List.of(Path.of(""), Path.of("/nonexistent/x"), Path.of("/dev/null"), Path.of("/tmp"));

    private final Fuzzer fuzzer;
    private final RandomGenerator random;
    private boolean passedNull;
    private boolean closing;

    RandomArguments(Fuzzer fuzzer, RandomGenerator random) {
        this.fuzzer = fuzzer;
        this.random = random;
    }

    /** Returns true if the arguments that were built last contain a null. */
    boolean passedNull() {
        return passedNull;
    }

    /** Builds the arguments of a call. */
    @Nullable Object[] arguments(Executable executable) {
        passedNull = false;
        // A close waits for its whole timeout if a peer, which the fuzzer also keeps, stays open.
        closing = executable.getName().equals("close");
        return arguments(executable, 0);
    }

    private @Nullable Object[] arguments(Executable executable, int depth) {
        var types = executable.getGenericParameterTypes();
        var arguments = new Object[types.length];
        for (var index = 0; index < types.length; index++) {
            arguments[index] = of(types[index], depth);
        }
        return arguments;
    }

    @Nullable Object of(Type type, int depth) {
        return switch (type) {
            case Class<?> plain -> of(plain, plain, depth);
            case ParameterizedType generic -> of((Class<?>) generic.getRawType(), generic, depth);
            case GenericArrayType array -> array(array.getGenericComponentType(), depth);
            case TypeVariable<?> variable -> of(variable.getBounds()[0], depth);
            case WildcardType wildcard -> of(wildcard.getUpperBounds()[0], depth);
            default -> missing();
        };
    }

    private @Nullable Object missing() {
        passedNull = true;
        return null;
    }

    private @Nullable Object of(Class<?> type, Type generic, int depth) {
        if (type.isPrimitive()) {
            return primitive(type);
        }
        if (random.nextInt(60) == 0) {
            return missing();
        }
        if (type.isArray()) {
            return array(type.getComponentType(), depth);
        }
        if (type.isEnum()) {
            return pick(List.of(type.getEnumConstants()));
        }
        var pooled = random.nextInt(8) == 0 ? null : fuzzer.pooled(type, random);
        if (pooled != null && type != Object.class) {
            return pooled;
        }
        if (type == List.class || type == Iterable.class || type.getName().endsWith("Collection")) {
            return new ArrayList<>(elements(generic, depth));
        }
        if (type == Set.class) {
            return new LinkedHashSet<>(elements(generic, depth));
        }
        if (type == Optional.class) {
            return elements(generic, depth).stream().filter(e -> e != null).findFirst();
        }
        if (Callback.isCallback(type)) {
            return Callback.of(type, fuzzer, random.nextLong());
        }
        var simple = simple(type);
        return simple != null ? simple : created(type, depth);
    }

    private Object primitive(Class<?> type) {
        return switch (type.getName()) {
            case "boolean" -> random.nextBoolean();
            case "byte" -> (byte) integer();
            case "short" -> (short) integer();
            case "char" -> (char) integer();
            case "int" -> integer();
            case "long" -> random.nextInt(20) == 0 ? random.nextLong() : longInteger();
            case "float" -> random.nextFloat();
            default -> random.nextDouble();
        };
    }

    private int integer() {
        return random.nextInt(20) == 0
                ? random.nextInt()
                : INTEGERS[random.nextInt(INTEGERS.length)];
    }

    private long longInteger() {
        return LONGS[random.nextInt(LONGS.length)];
    }

    private <T> T pick(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    private @Nullable Object simple(Class<?> type) {
        if (type.isAssignableFrom(String.class)) {
            return type == Object.class && random.nextBoolean()
                    ? (Object) integer()
                    : pick(STRINGS);
        }
        if (type == Integer.class || type == Long.class || type == Boolean.class) {
            return type == Boolean.class
                    ? random.nextBoolean()
                    : type == Long.class ? longInteger() : (Object) integer();
        }
        if (type == OptionalInt.class) {
            return random.nextBoolean() ? OptionalInt.empty() : OptionalInt.of(integer());
        }
        if (type == Duration.class) {
            return pick(!closing && random.nextInt(12) == 0 ? LONG : SHORT);
        }
        if (type == Instant.class) {
            return random.nextBoolean() ? Instant.MAX : Instant.EPOCH;
        }
        if (type == Path.class) {
            return pick(PATHS);
        }
        if (type == InetAddress.class) {
            return fuzzer.target().address();
        }
        if (type == InetSocketAddress.class || type == SocketAddress.class) {
            return socketAddress();
        }
        if (type == ProtocolFamily.class) {
            return pick(List.of(StandardProtocolFamily.values()));
        }
        if (type == SocketOption.class) {
            return pick(OPTIONS);
        }
        if (type == ByteBuffer.class) {
            var size = SIZES[random.nextInt(SIZES.length)];
            var buffer =
                    random.nextBoolean()
                            ? ByteBuffer.allocateDirect(size)
                            : ByteBuffer.allocate(size);
            return random.nextInt(8) == 0 ? buffer.asReadOnlyBuffer() : buffer;
        }
        if (type == MemorySegment.class) {
            return memory();
        }
        if (type == Throwable.class || type == IOException.class) {
            return new IOException("for the test");
        }
        return null;
    }

    private SocketAddress socketAddress() {
        return switch (random.nextInt(8)) {
            case 0 -> InetSocketAddress.createUnresolved("unresolved.invalid", 1);
            case 1 -> new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
            default -> new InetSocketAddress(fuzzer.target().address(), 0);
        };
    }

    private MemorySegment memory() {
        var size = SIZES[random.nextInt(SIZES.length)];
        return switch (random.nextInt(6)) {
            case 0 -> MemorySegment.ofArray(new byte[size]);
            case 1 -> MemorySegment.NULL;
            case 2 -> Arena.ofConfined().allocate(0);
            case 3 -> {
                try (var arena = Arena.ofShared()) {
                    yield arena.allocate(size);
                }
            }
            default -> Arena.ofAuto().allocate(size, 8);
        };
    }

    private @Nullable Object array(Type component, int depth) {
        var raw =
                component instanceof ParameterizedType generic
                        ? (Class<?>) generic.getRawType()
                        : component;
        if (!(raw instanceof Class<?> type)) {
            return missing();
        }
        var length = type.isPrimitive() ? SIZES[random.nextInt(SIZES.length)] : random.nextInt(4);
        var array = Array.newInstance(type, length);
        for (var index = 0; index < length && !type.isPrimitive(); index++) {
            Array.set(array, index, of(component, depth + 1));
        }
        return array;
    }

    private List<@Nullable Object> elements(Type generic, int depth) {
        var list = new ArrayList<@Nullable Object>();
        var element =
                generic instanceof ParameterizedType with
                        ? with.getActualTypeArguments()[0]
                        : String.class;
        for (var count = random.nextInt(4); count > 0; count--) {
            list.add(of(element, depth + 1));
        }
        return list;
    }

    /** Creates an object of the API by a constructor or a static method. */
    private @Nullable Object created(Class<?> type, int depth) {
        var creators = fuzzer.surface().creators(type);
        if (depth < 3 && !creators.isEmpty()) {
            try {
                var before = passedNull;
                passedNull = false;
                var creator = pick(creators);
                var arguments = arguments(creator, depth + 1);
                if (!passedNull) { // A record may contain the null.
                    passedNull = before;
                    var created = Fuzzer.invoke(creator, null, arguments);
                    if (created != null) {
                        fuzzer.keep(created, random); // The run closes it at its end.
                        return created;
                    }
                }
            } catch (InvocationTargetException | RuntimeException _) {
                // The fuzzer also calls each creator itself, and then reports its exceptions.
            }
        }
        return missing();
    }
}
