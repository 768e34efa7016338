"""A sweep that is killed loses what runs at that moment, and nothing else."""

import kills


def test_a_killed_sweep_continues_and_repeats_at_most_a_batch_of_each_worker(tmp_path):
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    whole = kills.sweep(tmp_path / "whole", 60)
    assert (whole.twice, whole.most_batches) == (0, 0)
    killed = kills.sweep(tmp_path / "killed", 60, [2.0, 2.5])
    assert killed.digest == whole.digest
    assert 0 < killed.twice and killed.most_batches == 1
    parts = [sorted(path.name for path in (tmp_path / name / "parts").iterdir()) for name in ["whole", "killed"]]
    assert parts[0] == parts[1] and len(parts[0]) == 60, "nothing of the killed processes is left"
