"""Commands of ``ctm`` that need a checkout: subjects of ``ctm evaluate``, and ``ctm train``.

Each module has a function ``add_NAME``, as those of ``predictor.cli``, whose tables name it.
"""
