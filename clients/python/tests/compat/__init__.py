"""What each release wrote and said, and how a build is asked for the same."""
