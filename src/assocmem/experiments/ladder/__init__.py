"""The ladder of write rules: what each way to store reaches, and what it survives."""
