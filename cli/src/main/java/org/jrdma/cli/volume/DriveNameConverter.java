package org.jrdma.cli.volume;

import org.jrdma.volume.drive.DriveName;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses the name of a drive. */
final class DriveNameConverter implements ITypeConverter<DriveName> {

    @Override
    public DriveName convert(String text) {
        try {
            return new DriveName(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
