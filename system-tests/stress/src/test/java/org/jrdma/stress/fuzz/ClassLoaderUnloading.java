package org.jrdma.stress.fuzz;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Locale;
import org.jrdma.stress.fuzz.WaitingCallWatchdog.Usage;

/**
 * A program that loads the libraries and the software fabrics with class loaders that it then
 * discards, as application servers do. Each class loader transfers data with a target. Arguments:
 * the target and the number of class loaders. Exit codes: 0 if each class loader keeps no more
 * resources than docs/use/production.md states, 1 otherwise.
 */
public final class ClassLoaderUnloading {

    private static final int UNTIL_STEADY = 5;
    private static final long HEAP_PER_LOADER = 3 << 19; // documented as about 1 MB

    /**
     * The number of idle threads of pools for each class loader. They end after a minute, so
     * production.md does not count them.
     */
    private static final int POOLED_THREADS = 4;

    /** The number of threads and descriptors that the JVM may add. */
    private static final int TOLERANCE = 4;

    private ClassLoaderUnloading() {}

    public static void main(String... arguments) throws Exception {
        var paths = System.getProperty("java.class.path").split(":", -1);
        var urls = new URL[paths.length];
        for (var index = 0; index < paths.length; index++) {
            urls[index] = Path.of(paths[index]).toUri().toURL();
        }
        var count = Integer.parseInt(arguments[1]);
        var loaders = new ArrayList<WeakReference<ClassLoader>>();
        var steady = Usage.now();
        for (var round = 0; round < count; round++) {
            loaders.add(use(urls, arguments[0], round));
            System.gc(); // Permits the JVM to unload the classes of earlier rounds.
            if (round == UNTIL_STEADY) {
                steady = Usage.now();
            }
        }
        var used = Usage.now();
        System.out.printf(
                Locale.ROOT,
                "%s: %d class loaders, %d of them unloaded; after %d: %s; at the end: %s%n",
                arguments[0],
                count,
                loaders.stream().filter(loader -> loader.get() == null).count(),
                UNTIL_STEADY,
                steady,
                used);
        var isBounded = isBounded(arguments[0], steady, used, count - UNTIL_STEADY - 1);
        System.out.println(isBounded ? "BOUNDED" : "GROWN");
        System.out.flush();
        Runtime.getRuntime().halt(isBounded ? 0 : 1);
    }

    private static boolean isBounded(String target, Usage earlier, Usage later, int loaders) {
        var isRoce = target.equals("roce");
        return later.heap() - earlier.heap() <= HEAP_PER_LOADER * loaders
                && later.threads() - earlier.threads()
                        <= ((isRoce ? 4 : 8) + POOLED_THREADS) * loaders + TOLERANCE
                && later.descriptors() - earlier.descriptors()
                        <= (isRoce ? 2 : 11) * loaders + TOLERANCE;
    }

    private static WeakReference<ClassLoader> use(URL[] urls, String target, int round)
            throws Exception {
        try (var loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
            loader.loadClass(ClassLoaderUnloading.class.getName())
                    .getMethod("verifyTarget", String.class, int.class)
                    .invoke(null, target, round);
            return new WeakReference<>(loader);
        }
    }

    /** Called by reflection, in the class loader of a round. */
    public static void verifyTarget(String target, int round) throws Exception {
        Target.named(target, (int) (ProcessHandle.current().pid() + round)).verify();
    }
}
