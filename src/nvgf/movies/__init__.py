"""Room movies."""
