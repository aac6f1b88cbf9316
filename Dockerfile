# An image with the jrdma command and the software fabrics. It is made from the build of this repository:
#
#   mvn -pl cli -am -DskipTests package
#   docker build --tag jrdma .
#   docker run --rm jrdma doctor
#
# Any base image with Java 25 and glibc is suitable. For adapters it must also have libibverbs1, ibverbs-providers and librdmacm1. docs/use/containers.md describes how
# a container gets access to the device. A tag may later stand for another image; a digest does not:
#
#   docker build --build-arg JAVA=eclipse-temurin@sha256:DIGEST --tag jrdma .     # docker buildx imagetools inspect eclipse-temurin:25-jre prints the digest
ARG JAVA=eclipse-temurin:25-jre
FROM ${JAVA}

COPY cli/target/jrdma.jar /opt/jrdma/jrdma.jar

# The user "nobody": neither fabric needs root, and the jar is the only file that is read.
USER 65534:65534

ENTRYPOINT ["java", "-jar", "/opt/jrdma/jrdma.jar"]
CMD ["--help"]
