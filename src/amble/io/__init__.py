"""Input and output: files as bytes, runs and judgments, small tables, columns of other libraries, TOML, HTML."""
