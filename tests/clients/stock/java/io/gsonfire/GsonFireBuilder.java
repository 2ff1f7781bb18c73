package io.gsonfire;

import com.google.gson.GsonBuilder;

/** What Debian does not have. */
public class GsonFireBuilder {
    public GsonBuilder createGsonBuilder() {
        return new GsonBuilder();
    }
}
