from hypothesis import settings

# The first call of a kernel compiles it, which is no measure of its speed.
settings.register_profile("kernels", deadline=None)
settings.load_profile("kernels")
