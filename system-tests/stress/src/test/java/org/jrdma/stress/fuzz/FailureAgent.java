package org.jrdma.stress.fuzz;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.NewPrimitiveArrayInstruction;
import java.lang.classfile.instruction.NewReferenceArrayInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;

/**
 * A Java agent that makes allocations of the libraries fail. It inserts a call before each {@code
 * new} in their methods. That call throws an OutOfMemoryError now and then, in service threads and
 * in the upcalls of the software fabrics.
 */
public final class FailureAgent {

    private static final int MEAN_GAP = 3_000;
    private static final AtomicInteger LEFT = new AtomicInteger();
    private static final AtomicInteger INJECTED = new AtomicInteger();
    private static volatile boolean armed;

    private FailureAgent() {}

    /** Creates the jar that names this class as an agent. */
    static Path jar(Path folder) throws IOException {
        var manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", FailureAgent.class.getName());
        Files.createDirectories(folder);
        var file = folder.resolve("failure-agent.jar");
        new JarOutputStream(Files.newOutputStream(file), manifest).close();
        return file;
    }

    public static void premain(String options, Instrumentation instrumentation) {
        instrumentation.addTransformer(
                new ClassFileTransformer() {
                    @Override
                    public byte @Nullable [] transform(
                            ClassLoader loader,
                            String name,
                            Class<?> redefined,
                            ProtectionDomain domain,
                            byte[] bytes) {
                        return name.startsWith("org/jrdma/")
                                        && !name.startsWith("org/jrdma/stress/")
                                ? instrument(bytes)
                                : null;
                    }
                });
    }

    private static byte[] instrument(byte[] bytes) {
        var agent = ClassDesc.of(FailureAgent.class.getName());
        var type = MethodTypeDesc.of(ConstantDescs.CD_void);
        CodeTransform insert =
                (code, element) -> {
                    if (element instanceof NewObjectInstruction
                            || element instanceof NewReferenceArrayInstruction
                            || element instanceof NewPrimitiveArrayInstruction) {
                        code.invokestatic(agent, "allocation", type);
                    }
                    code.with(element);
                };
        // reads class files, because loading a class while it is transformed would fail
        var hierarchy =
                ClassHierarchyResolver.ofResourceParsing(FailureAgent.class.getClassLoader());
        var file = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(hierarchy));
        return file.transformClass(
                file.parse(bytes), ClassTransform.transformingMethodBodies(insert));
    }

    /** Starts or ends the injection. Without this agent, the call has no effect. */
    static void arm(boolean on) {
        LEFT.set(MEAN_GAP);
        armed = on;
    }

    static int injected() {
        return INJECTED.get();
    }

    /** Called before each allocation. */
    public static void allocation() {
        if (armed && LEFT.decrementAndGet() == 0) {
            LEFT.set(1 + ThreadLocalRandom.current().nextInt(2 * MEAN_GAP));
            if (isVictim(Thread.currentThread().getName(), new Throwable().getStackTrace())) {
                INJECTED.incrementAndGet();
                throw new OutOfMemoryError("injected");
            }
            LEFT.set(1); // the next allocation, of any thread
        }
    }

    private static boolean isVictim(String thread, StackTraceElement[] stack) {
        var isService = !thread.startsWith("fuzzer");
        for (var frame : stack) {
            if (frame.getMethodName().equals("<clinit>")
                    || frame.getClassName().startsWith("java.lang.invoke.MethodHandleNatives")) {
                return false; // a class that cannot be initialized stays unusable
            }
            isService |= frame.getClassName().startsWith("org.jrdma.soft.");
        }
        return isService;
    }
}
