"""What people's own keys, targets and answers allow: files that are read, facts examined, a report."""
