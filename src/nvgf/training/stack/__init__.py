"""Many models of one shape as one: every tensor has a leading dimension of jobs."""
