"""Engines that run the work of longtail elsewhere than in this process."""
