"""How close the engines are to published measurements."""
