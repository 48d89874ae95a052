"""The bridge: the same networks measured here under every CPU runtime that PyPI has.

It says how runtimes compare on one machine; outside x86 its ratios only widen or shift a prior.

    python -m ctm_research.bridge setup            make the environment of runtimes
    python -m ctm_research.bridge prepare DATA     convert and compile, untimed
    python -m ctm_research.bridge run DATA         time what is prepared
    python -m ctm_research.bridge page             write data and research/docs/results/bridge.md

``networks.csv`` chooses the networks; ``runtimes`` has one adapter a runtime; ``convert`` and
``block`` are processes of the environment, which has its own packages (``requirements.txt``) in the
user's cache folder. Timing is the runner's: its blocks, stopping rule and verdicts.
"""
