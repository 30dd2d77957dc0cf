"""The error of a request."""

from longtail.errors import LongtailError
from longtail.serving.problem import Problem


def test_a_problem_is_a_sentence_with_a_status_and_headers():
    problem = Problem(429, "later", headers={"Retry-After": "2"})
    assert isinstance(problem, LongtailError)
    assert (str(problem), problem.status, problem.headers) == ("later", 429, {"Retry-After": "2"})
    assert Problem(404, "no").headers == {}
