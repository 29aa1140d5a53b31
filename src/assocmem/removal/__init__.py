"""What changes when one pair is taken away: Hessians and leave-one-out problems."""
