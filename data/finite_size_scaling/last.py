"""The last retrievable number of pairs of nested instances, certified: makes ``last.csv``.

    python data/finite_size_scaling/last.py [--most SECONDS]

One row an instance of ``peaks.csv``, `assocmem.norm_peak.last_retrievable(d, seed=seed)`.
"""

from assocmem.norm_peak import last_retrievable
from assocmem.results import fill_command, read_table


def last(d, seed):
    """Number of pairs, the first of which some memory retrieves while one more is too many."""
    return {"n": last_retrievable(d, seed=seed)}


def main():
    trained = read_table("finite_size_scaling", "peaks")
    instances = sorted(set(zip(trained["d"], trained["seed"], strict=True)))
    keys = [{"d": int(d), "seed": int(seed)} for d, seed in instances]
    fill_command("finite_size_scaling", "last", keys, last)


if __name__ == "__main__":
    main()
