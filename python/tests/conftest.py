"""One cluster of Ray for all tests that need one; the last of them ends its second node."""

import pytest

import cluster as ray_cluster


@pytest.fixture(scope="session")
def cluster():
    pytest.importorskip("ray", reason="Ray is not installed")
    with ray_cluster.cluster() as started:
        yield started
