"""The lab: a simulated RDMA fabric behind a real SSH server, for demonstrations and tests."""
