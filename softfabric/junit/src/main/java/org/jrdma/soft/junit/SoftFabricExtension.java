package org.jrdma.soft.junit;

import java.lang.reflect.Parameter;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.SoftDevice;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * The extension behind {@link SoftFabricTest}: creates a fabric when a test first asks for a part
 * of it, and closes it after the test.
 */
final class SoftFabricExtension
        implements BeforeEachCallback, ParameterResolver, AfterEachCallback {

    private static final List<Class<?>> TYPES =
            List.of(
                    Device.class,
                    SoftDevice.class,
                    InetAddress.class,
                    Verbs.class,
                    ConnectionManager.class);

    @Override
    public void beforeEach(ExtensionContext context) {
        var method = context.getRequiredTestMethod();
        if (AnnotationSupport.isAnnotated(method, SoftFabricTest.class)
                && (AnnotationSupport.isAnnotated(method, TestTemplate.class)
                        || AnnotationSupport.isAnnotated(method, TestFactory.class))) {
            throw new ExtensionConfigurationException(
                    "%s is two kinds of test at once, and would run as each: on a method, @SoftFabricTest makes a test by itself. Put it on the class, or on a @Nested class around the method, and leave here @ParameterizedTest, @RepeatedTest or whatever it is."
                            .formatted(method));
        }
        try {
            TestFabric.check(annotation(context));
        } catch (IllegalArgumentException e) {
            throw new ExtensionConfigurationException(e.getMessage(), e);
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return TYPES.contains(parameter.getParameter().getType());
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        var type = parameter.getParameter().getType();
        if (context.getTestMethod().isEmpty()) {
            throw new ParameterResolutionException(
                    "There is a %s for each test: take it in the test method or in one annotated with @BeforeEach"
                            .formatted(type.getSimpleName()));
        }
        try {
            var fabric =
                    store(context)
                            .getOrComputeIfAbsent(
                                    TestFabric.class,
                                    _ -> TestFabric.of(annotation(context)),
                                    TestFabric.class);
            var index = index(parameter);
            if (type == Verbs.class) {
                return fabric.verbs();
            } else if (type == ConnectionManager.class) {
                return fabric.connections();
            } else if (type == InetAddress.class) {
                return fabric.address(index);
            }
            return type == Device.class ? fabric.device(index) : fabric.softDevice(index);
        } catch (FabricException | IllegalArgumentException e) {
            throw new ParameterResolutionException(e.getMessage(), e);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        var fabric = store(context).remove(TestFabric.class, TestFabric.class);
        if (fabric != null) {
            var leaks = fabric.leaks();
            fabric.close();
            // What has failed has rarely cleaned up, and that is not what its author must know.
            if (context.getExecutionException().isEmpty()) {
                leaks.ifPresent(failure -> {
                    throw failure;
                });
            }
        }
    }

    private static ExtensionContext.Store store(ExtensionContext context) {
        return context.getStore(
                ExtensionContext.Namespace.create(
                        SoftFabricExtension.class, context.getRequiredTestMethod()));
    }

    /** The nearest: the method's, or the innermost class's. */
    private static SoftFabricTest annotation(ExtensionContext context) {
        var own =
                AnnotationSupport.findAnnotation(
                        context.getElement(), SoftFabricTest.class); // a class's superclasses too
        return own.orElseGet(() -> annotation(context.getParent().orElseThrow()));
    }

    /** Which of the parameters of its type it is. */
    private static int index(ParameterContext context) {
        var type = context.getParameter().getType();
        return (int)
                Arrays.stream(context.getDeclaringExecutable().getParameters())
                        .limit(context.getIndex())
                        .map(Parameter::getType)
                        .filter(type::equals)
                        .count();
    }
}
