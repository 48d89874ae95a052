"""Graphs of networks that published rows wait for, built from Python packages.

    python -m ctm_research.bridge setup              make the environment of packages
    python -m ctm_research.building --data DIR       build what is missing, most rows first

``plan`` says which networks of a data folder lack a graph and which packages define them;
``export`` is a process of the bridge's environment that turns a definition into a graph without
weights; ``build`` drives it and keeps a row of each network. Sources read the folder by themselves
(``sources.built``).
"""
