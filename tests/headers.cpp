// Nothing: the target holdfast_test_headers is there for its precompiled header, and must have a source.
