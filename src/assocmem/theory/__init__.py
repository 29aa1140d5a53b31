"""What the paper predicts: laws, thresholds and capacities, computed without torch and without a fit."""
