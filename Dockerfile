# The jrdma command in an image, with the software fabrics in it. From what the build of this repository makes:
#
#   mvn -pl cli -am -DskipTests package
#   docker build --tag jrdma .
#   docker run --rm jrdma doctor
#
# Any image with a Java 25 and glibc will do. For adapters take one that has libibverbs1, ibverbs-providers and librdmacm1, too; docs/troubleshooting.md says how
# a container gets at the device.
ARG JAVA=eclipse-temurin:25-jre
FROM ${JAVA}

COPY cli/target/jrdma.jar /opt/jrdma/jrdma.jar

# "nobody": neither fabric needs to be root, and the jar is all there is to read.
USER 65534:65534

ENTRYPOINT ["java", "-jar", "/opt/jrdma/jrdma.jar"]
CMD ["--help"]
