"""The cache of objects that do not change: what it keeps, and when it makes a value again."""

import pickle

from onehot_fast._runtime.cache import Cache


def test_a_value_is_made_again_only_if_it_is_not_current():
    cache, made = Cache(2), []

    def make(source):
        made.append(source)
        return source

    def get(source):
        return cache.get_current("key", lambda known: known == source, make, source)

    assert [get(source) for source in (1, 1, 2, 2, 1)] == [1, 1, 2, 2, 1]
    assert made == [1, 2, 1]


def test_replacing_a_value_empties_no_full_cache():
    cache = Cache(2)
    cache.get("other", int)
    for source in (1, 2):
        cache.get_current("key", lambda known, now=source: known == now, int, source)
    assert len(cache) == 2


def test_a_new_key_empties_a_full_cache():
    cache = Cache(1)
    cache.get("other", int)
    assert cache.get_current("key", bool, int, 3) == 3
    assert len(cache) == 1


def test_a_pickle_is_empty():
    cache = Cache(1)
    cache.get("key", int)
    assert len(pickle.loads(pickle.dumps(cache))) == 0
