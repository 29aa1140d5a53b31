"""Whether any memory retrieves an instance, with a certificate that can be checked."""
