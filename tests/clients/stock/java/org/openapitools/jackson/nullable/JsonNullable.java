package org.openapitools.jackson.nullable;

/** What Debian does not have. */
public interface JsonNullable<T> {
    boolean isPresent();

    T get();
}
