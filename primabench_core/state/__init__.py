"""The mergeable states, the one home of distributed arithmetic."""
