"""The notebooks run from top to bottom, and are kept without outputs, which could be those of another version."""

import pathlib

import pytest

nbformat = pytest.importorskip("nbformat", reason="Jupyter is not installed")
nbclient = pytest.importorskip("nbclient", reason="Jupyter is not installed")

NOTEBOOKS = sorted((pathlib.Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path, tmp_path):
    if path.stem == "ray-sweep":
        pytest.importorskip("ray", reason="Ray is not installed")
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code), "kept without outputs"
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path}}).execute()
    pictures = [output for cell in code for output in cell.outputs if "image/png" in output.get("data", {})]
    assert pictures, "each ends with a picture"


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["geneva-share", "own-law", "ray-sweep"]
