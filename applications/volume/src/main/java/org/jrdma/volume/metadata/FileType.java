package org.jrdma.volume.metadata;

/** The types of files. The order is part of the format. */
public enum FileType {
    /** A file with data. */
    FILE,
    /** A folder with named files and folders. */
    FOLDER
}
