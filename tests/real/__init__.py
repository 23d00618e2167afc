"""Tests against a real RDMA stack: two virtual machines with Soft-RoCE."""
