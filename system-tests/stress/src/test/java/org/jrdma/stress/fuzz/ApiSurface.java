package org.jrdma.stress.fuzz;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.module.ModuleFinder;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URISyntaxException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/** The public API of the libraries: the methods and constructors that the fuzzer calls. */
final class ApiSurface {

    /** The classes of the JDK through which programs use the sockets. */
    private static final Set<Class<?>> CHANNELS =
            Set.of(
                    SocketChannel.class,
                    ServerSocketChannel.class,
                    DatagramChannel.class,
                    Pipe.class,
                    Pipe.SourceChannel.class,
                    Pipe.SinkChannel.class,
                    Selector.class,
                    SelectionKey.class,
                    Socket.class,
                    ServerSocket.class,
                    InputStream.class,
                    OutputStream.class);

    /**
     * The methods that the fuzzer does not call, because the program is responsible for their
     * effects.
     */
    private static final Pattern OMITTED =
            Pattern.compile(
                    ".*Unguarded.*|.*Foreign.*" // memory that the program frees
                            + "|NativeObject\\.address" // for functions that the SDK does not wrap
                            + "|(Lifetime|Leaks)\\..*" // for bindings
                            + "|.*\\.(load|importDevice)" // foreign native code and descriptors
                            + "|.*\\.printStackTrace" // fills the output
                            + "|BlockingCalls\\..*"); // runs an object that the program passes

    private final Set<Class<?>> classes = new HashSet<>();
    private final List<Executable> creators = new ArrayList<>();
    private final Map<Class<?>, Optional<Class<?>>> declared = new ConcurrentHashMap<>();
    private final Map<Class<?>, List<Method>> methods = new ConcurrentHashMap<>();

    /**
     * Reads the exported packages of modules.
     *
     * @param modules a class of each module
     */
    ApiSurface(List<Class<?>> modules)
            throws IOException, ReflectiveOperationException, URISyntaxException {
        for (var module : modules) {
            addExported(module);
        }
        for (var type : classes) {
            for (var constructor : type.getConstructors()) {
                addCreator(constructor, !Modifier.isAbstract(type.getModifiers()));
            }
            for (var method : type.getDeclaredMethods()) {
                addCreator(method, Modifier.isStatic(method.getModifiers()));
            }
        }
        creators.sort((a, b) -> a.toString().compareTo(b.toString()));
    }

    private void addExported(Class<?> module)
            throws IOException, ReflectiveOperationException, URISyntaxException {
        var location = Path.of(module.getProtectionDomain().getCodeSource().getLocation().toURI());
        var reference = ModuleFinder.of(location).findAll().iterator().next();
        var packages = new HashSet<String>();
        for (var export : reference.descriptor().exports()) {
            if (!export.isQualified()) {
                packages.add(export.source());
            }
        }
        try (var reader = reference.open()) {
            for (var file : reader.list().filter(name -> name.endsWith(".class")).toList()) {
                var name = file.substring(0, file.length() - ".class".length()).replace('/', '.');
                if (packages.contains(name.substring(0, Math.max(0, name.lastIndexOf('.'))))) {
                    var type = Class.forName(name);
                    if (isAccessible(type)) {
                        classes.add(type);
                    }
                }
            }
        }
    }

    private static boolean isAccessible(Class<?> type) {
        return Modifier.isPublic(type.getModifiers())
                && (type.getEnclosingClass() == null || isAccessible(type.getEnclosingClass()));
    }

    private void addCreator(Executable executable, boolean creates) {
        if (creates && Modifier.isPublic(executable.getModifiers()) && !isOmitted(executable)) {
            executable.setAccessible(true);
            creators.add(executable);
        }
    }

    private static boolean isOmitted(Executable executable) {
        return OMITTED.matcher(name(executable)).matches();
    }

    static String name(Executable executable) {
        return executable.getDeclaringClass().getSimpleName()
                + "."
                + (executable instanceof Constructor ? "new" : executable.getName());
    }

    /** Returns the static methods and the constructors. */
    List<Executable> creators() {
        return creators;
    }

    /** Returns the static methods and the constructors that return an object of this type. */
    List<Executable> creators(Class<?> type) {
        return creators.stream().filter(creator -> type.isAssignableFrom(result(creator))).toList();
    }

    private static Class<?> result(Executable executable) {
        return executable instanceof Method method
                ? method.getReturnType()
                : executable.getDeclaringClass();
    }

    /** Returns true for an object that has methods of the API. */
    boolean has(Object object) {
        return !(object instanceof Enum) && declared(object.getClass()).isPresent();
    }

    /** Returns true for the name of a class of the API. */
    boolean isApi(String name) {
        return classes.stream().anyMatch(type -> type.getName().equals(name));
    }

    /** Returns true for a type of the API. */
    boolean isApi(Class<?> type) {
        return classes.contains(type);
    }

    private Optional<Class<?>> declared(Class<?> type) {
        return declared.computeIfAbsent(type, this::findDeclared);
    }

    /** Returns the class or interface of the API by which programs refer to an object. */
    private Optional<Class<?>> findDeclared(Class<?> type) {
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            if (classes.contains(c) || (CHANNELS.contains(c) && type != c)) {
                return Optional.of(c);
            }
        }
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            for (var each : c.getInterfaces()) {
                if (classes.contains(each)) {
                    return Optional.of(each);
                }
            }
        }
        return Optional.empty();
    }

    /** Returns the methods of the API that this object has. */
    List<Method> methods(Object object) {
        return methods.computeIfAbsent(declared(object.getClass()).orElseThrow(), ApiSurface::list);
    }

    private static List<Method> list(Class<?> type) {
        var found = new HashMap<String, Method>();
        for (var method : type.getMethods()) {
            if (method.getDeclaringClass() != Object.class
                    && !Modifier.isStatic(method.getModifiers())
                    && !isOmitted(method)) {
                var signature = method.getName() + List.of(method.getParameterTypes());
                // Some methods are inherited from classes that are not public.
                method.setAccessible(true);
                found.merge(signature, method, (a, b) -> a.isBridge() ? b : a);
            }
        }
        var methods = new ArrayList<>(found.values());
        methods.sort((a, b) -> a.toString().compareTo(b.toString()));
        return methods;
    }
}
