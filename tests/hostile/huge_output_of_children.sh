# Tries: output by many processes at once.
# Group: the limit of output.
# Watch: the limit of output.
# Ends: output_limit.

yes | cat & yes | cat & yes
