import numpy as np

from longtail.graph.splitmix import GOLDEN, below, mix, seed_bits, share, stream

TOP = np.uint64(2**64 - 1)


def test_the_first_numbers_are_those_of_splitmix64():
    # The published sequence for the seed 0.
    assert int(mix(GOLDEN)) == 0xE220A8397B1DCDAF
    assert int(mix(np.uint64((2 * int(GOLDEN)) % 2**64))) == 0x6E789E6AA1B965F4


def test_streams_differ_by_seed_purpose_and_item():
    first = {
        int(stream(seed_bits(seed), purpose, item))
        for seed in (-1, 0, 1, 2**40)
        for purpose in range(4)
        for item in range(50)
    }
    assert len(first) == 4 * 4 * 50


def test_numbers_stay_in_their_range():
    assert below(np.uint64(0), 7) == 0
    assert below(TOP, 7) == 6
    assert below(TOP, 2**31 - 1) == 2**31 - 2
    assert share(np.uint64(0)) == 0
    assert 0.999 < share(TOP) < 1


def test_any_whole_number_is_a_seed():
    assert int(seed_bits(-1)) == 2**64 - 1
    assert int(seed_bits(2**64 + 3)) == 3
