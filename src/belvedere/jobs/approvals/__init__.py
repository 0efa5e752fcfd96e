"""Approvals: plan, votes, links, page."""
