"""Latencies that other tools measured: from their files to records that can calibrate a target.

One module a format; ``registry`` recognises a file by its content. A name in a file becomes a model
in ``names``, the name of a fused operator becomes operators in ``fused_operators``, and
``measurements`` turns latencies that the user confirmed into records of the store.
"""
