"""Sweeps: a grid over any field of a scenario, on this machine or on Dask, into a data set of Parquet files.

========================  ==========================================================================
``grid``                  what is varied: :class:`Grid`
``sweeps``                :func:`sweep`: on this machine's threads, in the native part, or by Dask into the data set
``dask``                  the engine of a Dask scheduler's workers
``batches``               how many points are a task
``dataset``               what a finished sweep is: :class:`Sweep`, :func:`open_dataset`
``drawing``               a figure of its rows
``progress``              how far a sweep is
``forecast``              what a sweep on many workers would take, simulated
========================  ==========================================================================

A row is a pure function of the grid's document and the point's number, so that engines only hand over numbers and rows.
"""

from __future__ import annotations

from .dataset import Sweep, open_dataset
from .grid import Grid
from .sweeps import sweep

__all__ = ["Grid", "Sweep", "open_dataset", "sweep"]
