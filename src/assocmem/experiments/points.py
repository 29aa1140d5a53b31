"""Point functions: what a sweep computes at each of its points.

A point function takes its parameters as keywords and returns the columns of one row: numbers, words, or None
where nothing came out. Each parameter is annotated with its type, its meaning and its range, in the words of
a section's parameters cell; ``device`` and ``checkpoint``, where a function takes them, say how to compute
and not what. Imports stand inside, so that a function depends on what it imports and on nothing else.
"""

from typing import Annotated

Count = Annotated[int, "number of pairs; [2, 100000000]"]
AnyCount = Annotated[int, "number of pairs; [3, 1000000000000]"]
Dimension = Annotated[int, "dimension; [2, 1000000]"]
Seed = Annotated[int, "seed of the instance; [0, 9007199254740991]"]
Load = Annotated[float, "pairs over d^2; (0, 1000]"]
Fraction = Annotated[float, "tail fraction; [1e-9, 1)"]
ListFraction = Annotated[float, "list fraction; (0, 0.5]"]
Beta = Annotated[float, "sharpness of the tail; [1e-6, 1e6]"]
Ridge = Annotated[float, "ridge; [1e-20, 1e6]"]
Tolerance = Annotated[float, "relative duality gap; [1e-14, 1)"]
ZipfExponent = Annotated[float, "exponent of the frequencies; [1.05, 5]"]
Rule = Annotated[
    str,
    "name in ladder.rules.RULES; {outer_products, least_squares, whitened, delta, delta_ten, gated_delta, "
    "muon, muon_ten, softmax_pass, softmax_two, softmax_ten, sparse_repair, repair_in_place, evened, "
    "even_clip, even_clip_ten, equal_signals, one_clip, four_clips, cross_entropy}",
]
AnyRule = Annotated[
    str,
    "name in ladder.rules.RULES or survival.SPECIAL; {outer_products, least_squares, whitened, delta, "
    "delta_ten, gated_delta, muon, muon_ten, softmax_pass, softmax_two, softmax_ten, sparse_repair, "
    "repair_in_place, evened, even_clip, even_clip_ten, equal_signals, one_clip, four_clips, cross_entropy, "
    "largest_margin, delta_stream}",
]
Harm = Annotated[
    str,
    "what happens to the memory; {query, memory, bits, bits_rows, bits_stochastic, entries, rank, "
    "overwritten}",
]
Ways = Annotated[
    str,
    "name in frequencies.zipf.WAYS; {tail_average, cross_entropy, hebb, hebb_first, keep, keep_first}",
]
Exponent = Annotated[float, "exponent of the frequencies; [0.1, 5]"]

Row = dict[str, int | float | str | None]
"""What a point function returns: its columns by name."""


def top1_verdict(n: Count, d: Dimension, seed: Seed, *, checkpoint: str | None = None) -> Row:
    """Does any memory retrieve every pair? 1, 0, or nothing where neither was proved; work; last margin."""
    from assocmem.deciding.feasibility import decide_top1
    from assocmem.pairs.data import gaussian_pairs

    found = decide_top1(gaussian_pairs(n, d, seed=seed), checkpoint=checkpoint)
    feasible = None if found.feasible is None else int(found.feasible)
    work = {"steps": found.steps, "passes": found.passes}
    return {"feasible": feasible, **work, "margin": float(f"{found.margin:.4g}")}


def tail_verdict(r: Fraction, n: Count, d: Dimension, seed: Seed, *, checkpoint: str | None = None) -> Row:
    """Can every signal beat the mean of its ``ceil(r (n - 1))`` best competitors? 1, 0 or nothing; work."""
    from assocmem.deciding.feasibility import decide
    from assocmem.pairs.data import gaussian_pairs
    from assocmem.pairs.sizes import tail_count

    found = decide(gaussian_pairs(n, d, seed=seed), tail_count(r, n - 1), checkpoint=checkpoint)
    feasible = None if found.feasible is None else int(found.feasible)
    return {"feasible": feasible, "steps": found.steps, "passes": found.passes}


def place_verdict(
    n: Count,
    k: Annotated[int, "competitors to beat on average; [1, 100000000]"],
    d: Dimension,
    seed: Seed,
    *,
    checkpoint: str | None = None,
) -> Row:
    """Can every signal beat the mean of its k best competitors? 1, 0 or nothing; work."""
    from assocmem.deciding.feasibility import decide
    from assocmem.pairs.data import gaussian_pairs

    found = decide(gaussian_pairs(n, d, seed=seed), k, checkpoint=checkpoint)
    feasible = None if found.feasible is None else int(found.feasible)
    return {"feasible": feasible, "steps": found.steps, "passes": found.passes}


def last_retrievable(d: Dimension, seed: Seed) -> Row:
    """Largest number of pairs, the first of one instance, that some memory retrieves: certified."""
    from assocmem.experiments.first_place.norm_peak import last_retrievable as search

    return {"n": search(d, seed=seed)}


def top1_memory(
    d: Dimension,
    seed: Seed,
    n: Count,
    effective_ridge: Annotated[float, "ridge times n / d^2; [1e-20, 1e6]"] = 1e-8,
    tol: Tolerance = 1e-6,
    *,
    device: str,
) -> Row:
    """Cross-entropy memory of Figure 1: norm scale, mean loss, relative gap, passes."""
    from assocmem.experiments.first_place.norm_peak import train_cross_entropy

    found = train_cross_entropy(n, d, seed=seed, effective_ridge=effective_ridge, tol=tol, device=device)
    if not found.converged:
        raise ArithmeticError(f"gap {found.gap:.1e} after {found.passes} passes")
    measured = {"nu": f"{found.nu:.7g}", "loss": f"{found.loss:.5g}", "gap": f"{found.gap:.1e}"}
    return {name: float(text) for name, text in measured.items()} | {"passes": found.passes}


def fact_verdict(
    d_in: Annotated[int, "dimension of the keys; [1, 1000000]"],
    d_out: Annotated[int, "dimension of the targets; [1, 1000000]"],
    m: Annotated[int, "number of targets; [2, 100000000]"],
    n: Annotated[int, "number of facts; [1, 100000000]"],
    seed: Seed,
    k: Annotated[int, "competitors to beat on average; [1, 100000000]"] = 1,
    in_turn: Annotated[int, "1 where targets are answers in turn, 0 where drawn; [0, 1]"] = 0,
    *,
    checkpoint: str | None = None,
) -> Row:
    """Does any memory retrieve these Gaussian facts? 1, 0, or nothing where neither was proved; work."""
    from assocmem.deciding.feasibility import decide
    from assocmem.experiments.gaussian_facts import gaussian_facts
    from assocmem.pairs.data import derived_seed

    # counts at different numbers of facts are to be independent, and nested facts are not
    own = derived_seed(seed, n)
    facts = gaussian_facts(d_in, d_out, m, n, seed=own, in_turn=bool(in_turn))
    found = decide(facts, k, checkpoint=checkpoint)
    feasible = None if found.feasible is None else int(found.feasible)
    return {"feasible": feasible, "steps": found.steps, "passes": found.passes}


def structure(
    n: Count,
    structure: Annotated[int, "place in surrogates.STRUCTURES; [0, 8]"],
    d: Dimension,
    seed: Seed,
) -> Row:
    """Would some memory retrieve all, had its scores directions of this structure? 1, 0 or nothing."""
    from assocmem.experiments.first_place.surrogates import STRUCTURES, meets_cone, score_directions
    from assocmem.pairs.data import derived_seed

    found = meets_cone(score_directions(STRUCTURES[structure], n, d, derived_seed(seed, n, d, structure)))
    return {"feasible": None if found is None else int(found)}


def tail_memory(
    d: Dimension,
    r: Fraction,
    load: Load,
    seed: Seed = 0,
    beta: Beta = 30.0,
    ridge: Ridge = 1e-6,
    tol: Tolerance = 1e-3,
    *,
    device: str,
    checkpoint: str | None,
) -> Row:
    """Tail-average memory of Figure 2: norm scale, mean loss, relative gap, passes."""
    from assocmem.experiments.tail_average.phase import train_tail_average

    at = {"seed": seed, "beta": beta, "ridge": ridge, "tol": tol}
    _, found = train_tail_average(load, r, d, **at, device=device, checkpoint=checkpoint)
    measured = {"nu": f"{found.nu:.6g}", "loss": f"{found.loss:.5g}", "gap": f"{found.gap:.1e}"}
    return {name: float(text) for name, text in measured.items()} | {"passes": found.passes}


def tail_profile(
    d: Dimension,
    load: Load,
    seed: Seed,
    r: Fraction = 0.15,
    beta: Beta = 30.0,
    ridge: Ridge = 1e-7,
    tol: Tolerance = 1e-4,
    *,
    device: str,
    checkpoint: str | None,
) -> Row:
    """Tail-average memory of Figure 3: as `tail_memory`, and quantiles of signal, margin and percentile."""
    from assocmem.experiments.tail_average.phase import profile, train_tail_average

    at = {"seed": seed, "beta": beta, "ridge": ridge, "tol": tol}
    pairs, found = train_tail_average(load, r, d, **at, device=device, checkpoint=checkpoint)
    measured = {"nu": f"{found.nu:.6g}", "loss": f"{found.loss:.5g}", "gap": f"{found.gap:.1e}"}
    quantiles = {
        f"{kind}_{k}": float(f"{q:.5g}")
        for kind, values in profile(pairs, found).items()
        for k, q in enumerate(values)
    }
    return {name: float(text) for name, text in measured.items()} | {"passes": found.passes} | quantiles


def tail_boundary(d: Dimension, r: Fraction, seed: Seed, *, device: str) -> Row:
    """Load at which the loss passes half of log 2 (Figure 2), pairs next to it, predicted pairs, fits."""
    from assocmem.experiments.tail_average.phase import boundary

    found = boundary(r, d, seed=seed, device=device)
    counts = {name: int(getattr(found, name)) for name in ("low", "high", "predicted", "fits")}
    return {"load": float(f"{found.load:.6g}")} | counts


def removal(
    setting: Annotated[int, "place in removal_sizes.SETTINGS; [0, 10]"], d: Dimension, seed: Seed
) -> Row:
    """Sizes of everything that moves when a pair is removed."""
    from assocmem.experiments.removals.removal_sizes import SETTINGS, measure_instance

    return {name: float(f"{x:.5g}") for name, x in measure_instance(d, seed, **SETTINGS[setting]).items()}


def dimension(
    n: Count, construction: Annotated[int, "place in constructions.CONSTRUCTIONS; [0, 11]"], seed: Seed
) -> Row:
    """Dimension from which a construction retrieves an instance, and what it spends there."""
    from assocmem.experiments.explicit.constructions import CONSTRUCTIONS, smallest_dimension

    d, built = smallest_dimension(CONSTRUCTIONS[construction], n, seed=seed)
    return {"d": d, "products": built.products, "steps": built.steps}


def repair_prediction(
    digits: Annotated[int, "ten times the decimal logarithm of the number of pairs; [10, 43429]"],
    kind: Annotated[int, "0 best reserve, 1 that of the proof, 2 in place; [0, 2]"],
) -> Row:
    """Half-success ratio, share of the coordinates and margin of a repair in the Gaussian picture."""
    import math

    from assocmem.theory.repair import best_margin, best_split, paper_share

    log_n = digits / 10 * math.log(10)
    reserve = paper_share(log_n) if kind == 1 else None
    found = best_split(log_n) if kind == 0 else best_margin(log_n, reserve)
    share = None if found.share is None else float(f"{found.share:.5g}")
    return {"ratio": float(f"{found.ratio:.6g}"), "share": share, "gamma": float(f"{found.gamma:.5g}")}


def pooled(n: AnyCount, k: Annotated[int, "competitors to beat on average; [1, 1000000000000]"]) -> Row:
    """Mean, variance and third central moment of the number of competitors pooled with a signal."""
    from assocmem.theory.kinematics import pooled_moments
    from assocmem.theory.tail_cone import face_moments

    mean, variance = pooled_moments(n, k)
    digits = ".12g" if k == 1 else ".6g"  # as many as are known: quadrature, or simulation
    moments = {"mean": format(mean, digits), "variance": format(variance, digits)}
    moments["third"] = format(face_moments(n, k)[2] if k < n - 1 else 0.0, ".4g")
    return {name: float(value) for name, value in moments.items()}


def outer_product_failure(n: AnyCount, ratio: Annotated[float, "d^2 / (n log n); (0, 1000]"]) -> Row:
    """Logarithm of the probability that the sum of outer products does not retrieve one given key."""
    import math

    from assocmem.theory.outer_products import query_failure_at_ratio

    return {"log_failure": float(f"{math.log(query_failure_at_ratio(n, ratio).value):.6g}")}


def zipf_constants(
    s: ZipfExponent,
    gamma: Annotated[float, "power of the frequencies that are weights of a loss; [0.1, 10]"],
    beta: Beta,
    r: Fraction = 0.15,
) -> Row:
    """Constants of the error under a law of Zipf without an end, of training and of other ways, in theory."""
    from assocmem.theory import frequency_scaling as scaling

    found = {
        "trained": scaling.trained_constant(s, r, beta=beta, gamma=gamma),
        "smoothed": scaling.trained_constant(s, r, beta=beta, gamma=gamma, smoothed=True),
        "reach": scaling.trained_reach(s * gamma, r, beta=beta),
        "hebb": scaling.hebb_constant(s, r),
        "keep": scaling.keep_constant(s, r),
        "convex": scaling.convex_constant(s, r),
        "lowest": scaling.lowest_constant(s, r),
    }
    return {name: float(f"{x:.6g}") for name, x in found.items()}


def zipf_prediction(
    n: Annotated[int, "number of facts; [3, 1000000000000000]"],
    d: Dimension,
    s: ZipfExponent,
    gamma: Annotated[float, "power of the frequencies that are weights of a loss; [0, 10]"],
    beta: Beta = 1.0,
    ridge: Annotated[float, "ridge; [0, 1e3]"] = 0.0,
    r: Fraction = 0.15,
) -> Row:
    """Share of questions about n facts of Zipf answered wrongly, after training and otherwise, in theory."""
    from assocmem.theory import frequency_scaling as scaling

    found = {
        "trained": scaling.trained_error(n, d, s, r, beta=beta, gamma=gamma, ridge=ridge),
        "hebb": scaling.hebb_error(n, d, s, r),
        "keep": scaling.keep_error(n, d, s, r),
        "lowest": scaling.lowest_error(n, d, s, r),
    }
    return {name: float(f"{x:.6g}") for name, x in found.items()}


def removal_motion(d: Dimension, seed: Seed, load: Load, r: Fraction, beta: Beta, ridge: Ridge) -> Row:
    """What moves when a pair is removed and has a closed form; averages over the scores."""
    from assocmem.experiments.removals.motion_sizes import measure_motion

    found = measure_motion(d, seed, load=load, r=r, beta=beta, ridge=ridge)
    return {name: float(f"{x:.7g}") for name, x in found.items()}


def scalar_instance(
    d: Dimension,
    load: Load,
    r: Fraction,
    beta: Beta,
    ridge: Ridge,
    seed: Seed,
    removed: Annotated[int, "pairs of which each is removed once; [0, 6]"] = 4,
    probes: Annotated[int, "random probes of the trace in large dimensions; [2, 1000000]"] = 2,
) -> Row:
    """A tail-average memory beside the scalar theory: its two numbers, averages, couplings."""
    from assocmem.experiments.tail_average.stored_instances import measure_instance

    at = {"seed": seed, "removed": removed, "probes": probes}
    found = measure_instance(d, load, r, beta, ridge, **at)
    empty = dict.fromkeys(
        f"{name}_{h}" for h in range(removed, 6) for name in ("signal", "tail", "fresh", "answer", "square")
    )
    return {name: float(f"{x:.6g}") for name, x in found.items()} | empty


def last_retrievable_fact(
    relation: Annotated[int, "place in words.word_lists.RELATIONS; [0, 4]"],
    kind: Annotated[int, "place in words.nested_facts.KINDS; [0, 2]"],
    d: Annotated[int, "coordinates of the vectors of words; [2, 50]"],
    order: Annotated[int, "seed of the order of the facts; [0, 9007199254740991]"],
) -> Row:
    """Largest number of facts about words, the first of a random order, that some memory retrieves."""
    from assocmem.experiments.words.nested_facts import KINDS, facts_of, last_retrievable_fact
    from assocmem.experiments.words.word_lists import RELATIONS

    facts = facts_of(RELATIONS[relation], KINDS[kind], d, order)
    return {"n": last_retrievable_fact(facts), "facts": facts.n, "targets": facts.m}


def word_costs(
    relation: Annotated[int, "place in words.word_lists.RELATIONS; [0, 4]"],
    d: Annotated[int, "coordinates of the vectors of words; [2, 50]"],
    order: Annotated[int, "seed of the order of the facts; [0, 9007199254740991]"],
) -> Row:
    """Rule of the first half of a relation, and what a fact of the second costs, without and with it."""
    from assocmem.experiments.words.word_forecasts import word_forecast
    from assocmem.experiments.words.word_lists import RELATIONS

    found = word_forecast(RELATIONS[relation], d, order)
    rule = {"q": found.rule.strength, "spread": found.rule.spread, "strength": found.strength}
    means = {"alone": found.alone.mean(), "led": found.led.mean()}
    return {name: float(f"{x:.5g}") for name, x in (rule | means).items()}


def last_ruled_fact(
    d: Annotated[int, "dimension of keys and targets; [4, 100]"],
    m: Annotated[int, "targets; [2, 10000]"],
    strength: Annotated[float, "strength of the rule; [0, 10)"],
    seed: Seed,
) -> Row:
    """Largest number of Gaussian facts, the first of those of a rule, that some memory retrieves."""
    from assocmem.experiments.words.nested_facts import last_retrievable_fact
    from assocmem.experiments.words.ruled_instances import ruled_facts

    return {"n": last_retrievable_fact(ruled_facts(m, m, d, strength, seed=seed))}


def list_memory(
    d: Dimension,
    r: ListFraction,
    load: Load,
    loss: Annotated[int, "place in lists.list_memories.LOSSES; [0, 4]"],
    seed: Seed,
    ridge: Ridge = 1e-6,
    beta: Beta = 1.0,
    tol: Tolerance = 1e-2,
) -> Row:
    """Where the signals of a memory stand among their competitors, for one of the losses, and its norm."""
    from assocmem.experiments.lists.list_memories import LOSSES, measure_lists
    from assocmem.pairs.data import gaussian_pairs
    from assocmem.pairs.sizes import pairs_at_load

    pairs = gaussian_pairs(pairs_at_load(load, d), d, seed=seed)
    found = measure_lists(LOSSES[loss], pairs, r, ridge=ridge, beta=beta, tol=tol)
    return {"n": pairs.n} | {k: x if x is None else float(f"{x:.6g}") for k, x in found.items()}


def list_verdict(
    d: Dimension,
    n: Count,
    r: ListFraction,
    seed: Seed,
) -> Row:
    """Has any memory every signal ``q_r`` spreads of its key above zero? 1, 0, or nothing; work; margin."""
    from assocmem.deciding.lists import decide_list
    from assocmem.pairs.data import derived_seed, gaussian_pairs

    # counts at different numbers of pairs are to be independent, and nested pairs are not
    found = decide_list(gaussian_pairs(n, d, seed=derived_seed(seed, n)), r)
    feasible = None if found.feasible is None else int(found.feasible)
    return {"feasible": feasible, "passes": found.passes, "margin": float(f"{found.margin:.3g}")}


def certified_dimension(n: Count, seed: Seed) -> Row:
    """Fewest dimensions in which any memory retrieves an instance, proved from both sides; passes."""
    from assocmem.experiments.ladder.fewest import fewest_dimensions

    found = fewest_dimensions(n, seed=seed)
    return {"d": found.d, "passes": found.passes}


def rule_dimension(n: Count, rule: Rule, seed: Seed) -> Row:
    """Dimension from which a write rule retrieves every pair of an instance, and d^2 / (n log n) there."""
    from assocmem.experiments.ladder.rules import RULES
    from assocmem.experiments.ladder.smallest import smallest
    from assocmem.pairs.sizes import top1_ratio

    d, _ = smallest(RULES[rule].write, n, seed=seed)
    return {"d": d, "ratio": float(f"{top1_ratio(n, d):.5g}")}


def rule_share(n: Count, d: Dimension, rule: Rule, seed: Seed) -> Row:
    """Share of an instance that a write rule retrieves: of all keys, of the oldest tenth, of the newest."""
    from assocmem.experiments.ladder.rules import RULES
    from assocmem.experiments.ladder.smallest import retrieved

    found = retrieved(RULES[rule], n, d, seed=seed)
    shares = {"retrieved": found.all, "oldest": found.oldest, "newest": found.newest}
    return {name: float(f"{share:.5g}") for name, share in shares.items()}


def survival(
    n: Count,
    d: Dimension,
    rule: AnyRule,
    harm: Harm,
    size: Annotated[float, "size of the harm, as ladder.survival.HARMS says; (0, 100]"],
    seed: Seed,
) -> Row:
    """Share of keys retrieved after a harm, as predicted from scores, and before it; noise it comes to."""
    from assocmem.experiments.ladder.survival import measure_survival

    found = measure_survival(n, d, rule, harm, size, seed)
    return {name: x if x is None else float(f"{x:.4g}") for name, x in found.items()}


def margin_bound(n: Count, d: Dimension, seed: Seed) -> Row:
    """Largest worst margin over the norm, in spreads, its bound, work, and the share that rules reach."""
    from assocmem.experiments.ladder.margins import measure_margins

    found = measure_margins(n, d, seed)
    digits = {"margin": ".6g", "bound": ".6g"}
    return {
        name: x if isinstance(x, int) else float(format(x, digits.get(name, ".4g")))
        for name, x in found.items()
    }


def kept_shares(
    load: Load,
    d: Dimension,
    law: Annotated[str, "name in frequencies.kept.LAWS; {equal, two, three, zipf}"],
    r: Fraction,
    beta: Beta,
    ridge: Ridge,
    seed: Seed,
) -> Row:
    """What a tail-average memory keeps of facts with weights: norm, loss, shares kept of each class; work."""
    from assocmem.experiments.frequencies.kept import measure_kept

    return _rounded(measure_kept(load, d, law, r, beta, ridge, seed))


def zipf_error(
    n: Count,
    d: Dimension,
    s: Exponent,
    way: Ways,
    seed: Seed,
    gamma: Annotated[float, "power of the frequencies that are weights of a loss; [0, 10]"] = 1.0,
    r: Fraction = 0.15,
    beta: Beta = 1.0,
    ridge: Ridge = 1e-5,
    tol: Tolerance = 1e-2,
) -> Row:
    """Share of questions about Zipf's facts answered wrongly, by a top share and first place; who is lost."""
    from assocmem.experiments.frequencies.zipf import measure_zipf

    return _rounded(measure_zipf(n, d, s, gamma, way, seed, r=r, beta=beta, ridge=ridge, tol=tol))


def fact_stream(
    d: Dimension,
    chunks: Annotated[int, "blocks of d^2 / 32 questions; [1, 1000]"],
    way: Annotated[
        str,
        "name in frequencies.streams.WAYS; {outer_products, decayed, delta, newest, replay, retrained, "
        "sharpened, keep}",
    ],
    s: Annotated[float, "exponent of the frequencies, 0 for facts that come once each; [0, 5]"],
    seed: Seed,
) -> Row:
    """What is left of facts that came one after another, by age and by how often they came; predictions."""
    from assocmem.experiments.frequencies.streams import measure_stream

    return _rounded(measure_stream(d, chunks, way, s, seed))


def error_by_passes(
    n: Count,
    d: Dimension,
    s: Exponent,
    training: Annotated[str, "name in frequencies.passes.TRAININGS; {descent, fit}"],
    seed: Seed,
    step: Annotated[float, "step of descent over frequencies.passes.unit_step; [1e-3, 1e4]"] = 1.0,
) -> Row:
    """Share of questions about Zipf's facts answered wrongly after 1, 2, 4, ... passes of a training."""
    from assocmem.experiments.frequencies.passes import measure_passes

    return _rounded(measure_passes(n, d, s, training, step, seed))


def _rounded(row):
    """A row with the digits of its numbers that mean something."""
    return {name: float(f"{x:.5g}") if isinstance(x, float) else x for name, x in row.items()}


REGISTERED = (
    top1_verdict,
    tail_verdict,
    place_verdict,
    last_retrievable,
    fact_verdict,
    structure,
    top1_memory,
    tail_memory,
    tail_profile,
    tail_boundary,
    removal,
    dimension,
    repair_prediction,
    pooled,
    outer_product_failure,
    zipf_constants,
    zipf_prediction,
    removal_motion,
    scalar_instance,
    last_retrievable_fact,
    word_costs,
    last_ruled_fact,
    list_memory,
    list_verdict,
    certified_dimension,
    rule_dimension,
    rule_share,
    survival,
    margin_bound,
    kept_shares,
    zipf_error,
    fact_stream,
    error_by_passes,
)
"""The point functions that a sweep file can name, in the order in which they are listed."""


def _asks_of_removal(setting, d, seed):
    from assocmem.experiments.removals.removal_sizes import SETTINGS
    from assocmem.pairs.sizes import pairs_at_load

    load = SETTINGS[setting]["load"]
    few = f"so large that two of five pairs can be removed, {load:g} d^2 >= 4.5"
    return [("d", pairs_at_load(load, d) >= 5, few)]


def _asks_of_removal_motion(d, seed, load, r, beta, ridge):
    import math

    from assocmem.pairs.sizes import pairs_at_load

    n = pairs_at_load(load, d)
    tail = math.ceil(r * (n - 1))
    return [
        ("d", n >= 4, "so large that a pair can be removed"),
        ("r", tail < n - 2, "smaller, to be a tail"),
    ]


def _asks_of_dimension(n, construction, seed):
    from assocmem.experiments.explicit.constructions import CONSTRUCTIONS, GROWTH
    from assocmem.pairs.sizes import dimension_at_ratio

    chosen = CONSTRUCTIONS[construction]
    # Signals can be made equal in dimensions below n alone, where the search must begin and grow once.
    below = not chosen.name.startswith("equal") or GROWTH * dimension_at_ratio(n, chosen.highest) < n
    return [("n", n >= 3, "at least 3"), ("n", below, f"larger, for {chosen.name} to need fewer dimensions")]


def _asks_of_pooled(n, k):
    return [("k", k < n, f"at most n - 1 = {n - 1}")]


def _asks_of_place_verdict(n, k, d, seed):
    return [("k", k < n, f"at most n - 1 = {n - 1}")]


def _asks_of_outer_product_failure(n, ratio):
    import math

    log_n = math.log(n)
    least, most = 1 / (n * log_n), 4 + 2000 / log_n  # n^(1 - ratio / 4) is about the probability
    return [
        ("ratio", ratio > least, f"above {least:.3g}, where d = 1, for n = {n}"),
        ("ratio", ratio <= most, f"at most {most:.4g} for n = {n}: the probability is next to nothing"),
    ]


def _asks_of_zipf_constants(s, gamma, beta, r):
    return [
        ("gamma", 1.01 <= s * gamma <= 15, f"such that s gamma is in [1.01, 15], s = {s:g}"),
        *_asks_of_zipf_range(beta, r),
    ]


def _asks_of_zipf_prediction(n, d, s, gamma, beta, ridge, r):
    from assocmem.theory.ridgeless import critical_load

    found = _asks_of_zipf_range(beta, r)
    found.append(("ridge", ridge == 0 or ridge >= 1e-16, "0, or at least 1e-16"))
    if ridge == 0 and all(holds for _, holds, _ in found):
        least = 1.001 * float(critical_load(r)) * d**2
        found.append(("n", n >= least, f"at least {least:.4g} without a ridge, more than fit"))
    return found


def _asks_of_zipf_range(beta, r):
    return [
        ("beta", beta >= 1e-3, "at least 0.001"),
        ("r", 1e-4 <= r <= 1 - 1e-4, "in [0.0001, 0.9999]"),
    ]


def _asks_of_last_ruled_fact(d, m, strength, seed):
    return [("strength", strength < d**0.5, f"below the root of d, {d**0.5:.4g}")]


def _asks_of_fact_verdict(d_in, d_out, m, n, seed, k, in_turn):
    return [("k", k < m, f"at most m - 1 = {m - 1}")]


def _asks_of_certified_dimension(n, seed):
    return [("n", n >= 3, "at least 3")]


def _asks_of_rule_dimension(n, rule, seed):
    return [("n", n >= 10, "at least 10")]


def _asks_of_rule_share(n, d, rule, seed):
    from assocmem.experiments.explicit.constructions import WIDEST
    from assocmem.pairs.sizes import dimension_at_ratio

    most = dimension_at_ratio(n, WIDEST)
    solves = rule in ("equal_signals", "one_clip", "four_clips")
    return [
        ("n", n >= 10, "at least 10"),
        ("d", d <= most, f"at most {most} for n = {n}"),
        ("d", not solves or n < d * min(d, n), f"above the root of n, for {rule} to have a solution"),
    ]


def _asks_of_survival(n, d, rule, harm, size, seed):
    from assocmem.experiments.ladder.survival import size_allowed, size_words

    *_, solution = _asks_of_rule_share(n, d, rule, seed)
    again = harm != "overwritten" or rule != "largest_margin"
    return [
        ("n", n >= 10, "at least 10"),
        ("size", size_allowed(harm, size), f"{size_words(harm)}, for {harm}"),
        ("rule", again, "another, as no memory retrieves both targets of a key"),
        solution,
    ]


def _asks_of_margin_bound(n, d, seed):
    *_, solution = _asks_of_rule_share(n, d, "four_clips", seed)
    return [("n", n >= 10, "at least 10"), solution]


def _asks_of_zipf_error(n, d, s, way, seed, gamma, r, beta, ridge, tol):
    return [
        ("n", n >= 10, "at least 10"),
        ("r", way != "hebb" or 1e-4 <= r <= 1 - 1e-4, "from 1e-4 to 1 - 1e-4 for outer products"),
        ("gamma", n ** (s * gamma) <= 1e30, f"such that weights are at most 1e30 apart, n = {n}, s = {s:g}"),
    ]


def _asks_of_fact_stream(d, chunks, way, s, seed):
    return [
        ("d", d >= 8, "at least 8"),
        ("chunks", chunks * d**2 >= 320, "such that there are at least 10 questions"),
    ]


RELATIONS = {
    "fact_verdict": _asks_of_fact_verdict,
    "removal": _asks_of_removal,
    "removal_motion": _asks_of_removal_motion,
    "dimension": _asks_of_dimension,
    "pooled": _asks_of_pooled,
    "place_verdict": _asks_of_place_verdict,
    "outer_product_failure": _asks_of_outer_product_failure,
    "zipf_constants": _asks_of_zipf_constants,
    "zipf_prediction": _asks_of_zipf_prediction,
    "last_ruled_fact": _asks_of_last_ruled_fact,
    "certified_dimension": _asks_of_certified_dimension,
    "rule_dimension": _asks_of_rule_dimension,
    "rule_share": _asks_of_rule_share,
    "survival": _asks_of_survival,
    "margin_bound": _asks_of_margin_bound,
    "zipf_error": _asks_of_zipf_error,
    "fact_stream": _asks_of_fact_stream,
}
"""What parameters demand of each other, by point function: a function of all of them that lists names,
whether their values will do, and what would. They stand beside the functions and not in them, since they say
what may be asked for and not what is computed."""
