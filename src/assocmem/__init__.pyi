# The face of the package: what `import assocmem as am` offers. It is read at run time, too.

from .deciding.certificates import Certificate as Certificate
from .deciding.feasibility import Verdict as Verdict
from .deciding.feasibility import decide as decide
from .deciding.feasibility import decide_top1 as decide_top1
from .deciding.feasibility import verify as verify
from .memories.clipped import ClippedMemory as ClippedMemory
from .memories.clipped import clipped_memory as clipped_memory
from .memories.clipped import equalised_memory as equalised_memory
from .memories.outer_products import correlation_memory as correlation_memory
from .memories.sparse_repair import SparseRepair as SparseRepair
from .memories.sparse_repair import repair_in_place as repair_in_place
from .memories.sparse_repair import sparse_repair as sparse_repair
from .pairs.data import Facts as Facts
from .pairs.data import Pairs as Pairs
from .pairs.data import best_device as best_device
from .pairs.data import derived_seed as derived_seed
from .pairs.data import gaussian_pairs as gaussian_pairs
from .pairs.scores import retrieval_margins as retrieval_margins
from .pairs.scores import scores as scores
from .pairs.scores import signal_percentiles as signal_percentiles
from .pairs.sizes import dimension_at_ratio as dimension_at_ratio
from .pairs.sizes import pairs_at_load as pairs_at_load
from .pairs.sizes import tail_count as tail_count
from .pairs.sizes import top1_ratio as top1_ratio
from .pairs.tail_average import smoothed_tail_average as smoothed_tail_average
from .pairs.tail_average import tail_average as tail_average
from .theory.kinematics import critical_dimension as critical_dimension
from .theory.kinematics import retrieval_probability as retrieval_probability
from .theory.kinematics import statistical_dimension as statistical_dimension
from .theory.outer_products import percentile_cdf as percentile_cdf
from .theory.outer_products import sample_score_column as sample_score_column
from .theory.ridgeless import critical_load as critical_load
from .theory.ridgeless import sat_edge as sat_edge
from .theory.ridgeless import sat_laws as sat_laws
from .theory.ridgeless import solve_unsat as solve_unsat
from .theory.ridgeless import tail_mean as tail_mean
from .theory.scalar import ScalarSolution as ScalarSolution
from .theory.scalar import solve_scalar as solve_scalar
from .training.fit import Fit as Fit
from .training.fit import fit as fit
from .training.losses import CrossEntropy as CrossEntropy
from .training.losses import TailAverage as TailAverage

__version__: str
