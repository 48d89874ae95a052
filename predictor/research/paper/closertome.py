"""The network of the paper, whole: operator graphs and targets to log-latency."""

from __future__ import annotations

from torch import Tensor, nn

from predictor.core.errors import InputError
from predictor.network.batch import GraphBatch, TargetBatch, check_graphs, check_shape
from predictor.network.config import NetworkConfig
from predictor.network.encoder import Encoding, GraphEncoder
from predictor.network.features import FEATURE_NAMES
from predictor.network.repeatable import repeatable
from predictor.network.scaling import Scaling
from predictor.research.paper.head import Head, NetworkOutput


class CloserToMe(nn.Module):
    """Predicts the log-latency of every graph of a batch on every target of a batch.

    PAPER mode is Eq. (3) to (9) as written: the signature is joined to the node features, two
    graph layers, FiLM, HODM, and an MLP on its output joined with the HCV. SHARED mode encodes
    each graph once; signature and analytic operator times enter after the graph layers, before
    FiLM.

    Args:
        config: choices, and the seed of the initial weights.
        scaling: statistics of the node features, fitted on training graphs; identity where None.

    Reference:
        CloserToMe, Eq. (3) to (9).
    """

    def __init__(self, config: NetworkConfig, scaling: Scaling | None = None) -> None:
        super().__init__()
        names = FEATURE_NAMES[: config.features]
        self.config = config
        self.scaling = Scaling.identity(names) if scaling is None else scaling
        if self.scaling.names != names:
            raise InputError(
                "scaling statistics",
                f"they are of {len(self.scaling.names)} columns, the network reads {len(names)}",
                "fit them on graphs of this version",
            )
        with repeatable(config.seed):
            self.encoder = GraphEncoder(config, self.scaling)
            self.head = Head(config)

    def encode(self, graphs: GraphBatch, targets: TargetBatch | None = None) -> Encoding:
        """Run the graph layers.

        Args:
            graphs: G graphs.
            targets: needed where the signature is joined to the node features.

        Raises:
            InputError: shapes or values do not fit.
        """
        check_graphs(graphs, self.config.features)
        joined = None
        if self.encoder.join is not None:
            if targets is None:
                raise InputError(
                    "signature",
                    "paper mode joins it to the node features, and no targets are given",
                    "give the targets when graphs are encoded",
                )
            self.head.target.check(targets)
            joined = self.head.target.joined_signature(targets)
        encoding: Encoding = self.encoder(graphs, joined)
        return encoding

    def predict(
        self, encoding: Encoding, targets: TargetBatch, times_ms: Tensor | None = None
    ) -> NetworkOutput:
        """Run everything after the graph layers.

        Args:
            encoding: of G graphs; in paper mode of these very targets.
            targets: T targets.
            times_ms: analytic compute, memory and launch times, [N, T, 3], NaN for a target that
                has none; for networks with a prior.

        Raises:
            InputError: shapes or values do not fit.
        """
        self.head.target.check(targets)
        self._check_encoding(encoding, len(targets))
        self._check_times(times_ms, (encoding.states.shape[0], len(targets), 3))
        output: NetworkOutput = self.head(encoding, targets, times_ms)
        return output

    def forward(
        self, graphs: GraphBatch, targets: TargetBatch, times_ms: Tensor | None = None
    ) -> NetworkOutput:
        """Encode and predict; see both."""
        return self.predict(self.encode(graphs, targets), targets, times_ms)

    def film_parameters(self) -> list[nn.Parameter]:
        """Return the weights of gamma and beta: what a few samples of a new target fine-tune.

        Networks with identifiers have none.

        Reference:
            CloserToMe, after Eq. (6).
        """
        conversation = self.head.conversation
        return [] if conversation is None else list(conversation.film.parameters())

    def _check_encoding(self, encoding: Encoding, targets: int) -> None:
        columns = 1 if self.encoder.join is None else targets
        check_shape(
            "encoded graphs",
            encoding.states,
            (encoding.graph.shape[0], columns, self.config.width),
        )

    def _check_times(self, times_ms: Tensor | None, shape: tuple[int, ...]) -> None:
        if not self.config.prior:
            return
        check_shape("analytic operator times", times_ms, shape)
        if times_ms is not None and bool(((times_ms < 0) | times_ms.isinf()).any()):
            raise InputError(
                "analytic operator times",
                "one is negative or infinite",
                "give times from 0 on, or NaN where there are none",
            )
