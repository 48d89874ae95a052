"""Checks of architecture codes and batch sizes."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.core.errors import InputError


def checked_code(space: str, code: Sequence[int], choices: Sequence[Sequence[int]]) -> list[int]:
    """Return the code as plain integers.

    Args:
        space: name of the search space.
        code: one number a position; a row of an integer array will do.
        choices: the numbers that each position may have.

    Raises:
        InputError: the code is too long, too short, or has a number that the space does not.
    """
    numbers = [int(number) for number in code]
    if len(numbers) != len(choices):
        raise InputError(
            f"architecture code of {space}",
            f"it has {len(numbers)} numbers, the space has {len(choices)} positions",
            f"give {len(choices)} numbers",
        )
    for position, (number, allowed) in enumerate(zip(numbers, choices, strict=True)):
        # int() above would cut 1.5 to an allowed 1.
        if number not in allowed or number != code[position]:
            raise InputError(
                f"architecture code of {space}",
                f"position {position} is {code[position]}",
                f"give one of {', '.join(map(str, allowed))}",
            )
    return numbers


def checked_batch(batch: int) -> int:
    """Return the batch size.

    Raises:
        InputError: it is below 1.
    """
    if batch < 1:
        raise InputError("batch", f"it is {batch}, the least is 1", "give a positive number")
    return batch
