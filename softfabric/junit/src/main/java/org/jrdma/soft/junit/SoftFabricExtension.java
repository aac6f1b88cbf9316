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
 * The JUnit extension of {@link SoftFabricTest}. It creates a fabric for a test when the first
 * parameter from the fabric is injected, and closes the fabric after the test.
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
                    "Cannot combine @SoftFabricTest with another test annotation on the method %s: the method would run as both kinds of test. Put @SoftFabricTest on the class, or on a @Nested class around the method, and keep only the other annotation on the method."
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
                    "Cannot inject a %s into a constructor or a static method: it exists for each test. Declare the parameter in the test method or in a method annotated with @BeforeEach."
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
            // a failed test rarely cleans up, and its leaks would hide the failure
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

    /** Returns the annotation of the method, or that of the innermost class with the annotation. */
    private static SoftFabricTest annotation(ExtensionContext context) {
        var annotation =
                AnnotationSupport.findAnnotation(
                        context.getElement(), SoftFabricTest.class); // includes superclasses
        return annotation.orElseGet(() -> annotation(context.getParent().orElseThrow()));
    }

    /** Returns the index of a parameter among the parameters of the same type. */
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
