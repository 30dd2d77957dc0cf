"""Why a label has its score: one file per kind of explanation; systems say which of them they can give."""

from longtail.explain.asked import Asked as Asked
from longtail.explain.explanation import Context as Context
from longtail.explain.explanation import Explanation as Explanation
from longtail.explain.explanation import LabelExplanation as LabelExplanation
from longtail.explain.explanation import MemberShare as MemberShare
from longtail.explain.explanation import Name as Name
from longtail.explain.explanation import NearDocument as NearDocument
from longtail.explain.explanation import Neighbour as Neighbour
from longtail.explain.explanation import Word as Word
