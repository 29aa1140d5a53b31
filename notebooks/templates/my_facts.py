# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # My facts
#
# A template: what can a matrix do for keys, targets and answers of your own?
#
# Put the names of your files into the next cell, or set them from the command line with papermill.
# Vectors are the rows of an array in `.npy`, `.npz` or `.safetensors`, or the lines `word x1 x2 ...` of a text.

# %% tags=["parameters"]
keys = "keys.npy"  # file of key vectors; any
targets = "targets.npy"  # file of target vectors, perhaps the same; any
answers = ""  # file with the answer to each key, empty if key i has target i; any
key_names = ""  # file with the name of each key, or empty; any
top = 1  # how many of the best competitors an answer has to beat on average; [1, inf)
decisions = (
    30  # sets of facts that are decided to find a small impossible one; [0, inf)
)
folder = ""  # where the report and its proofs are written, empty for nowhere; any

# %% [markdown]
# ## What was read

# %%
import assocmem as am

read = am.read_facts(keys, targets, answers or None, key_names=key_names or None)
facts = read.facts
print(f"{facts.n} keys in {facts.d_in} dimensions")
print(f"{facts.m} targets in {facts.d_out} dimensions")

# %% [markdown]
# ## What any matrix can do, and what some matrices do
#
# The report is a page of its own, shown in a frame.

# %%
report = am.capacity_report(
    facts,
    k=top,
    key_names=read.key_names,
    target_names=read.target_names,
    decisions=decisions,
    folder=folder or None,
)
report

# %% [markdown]
# ## In numbers
#
# `report.as_dict()` has all of it, to go on with.

# %%
print("\n".join(report.lines()))
