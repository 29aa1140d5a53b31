"""Exercises: three to five a section, each with a solution, and answers that are what they say."""

import io
import re
from contextlib import redirect_stdout

import pytest
from notebook_cells import cells as section

from assocmem.book.exercises import Answer, answers, wrong_answers
from assocmem.book.sections import section_names

EXERCISE = re.compile(r"^```\{exercise\} (?P<title>.+)\n:label: (?P<label>\S+)$", re.MULTILINE)
SOLUTION = re.compile(r"^```\{solution(?:-start)?\} (?P<label>\S+)\n:class: dropdown$", re.MULTILINE)
LONGEST = 12
"""Lines of a cell that answers."""


ANSWERS = {f"{name}: {a.exercise}": a for name in section_names() for a in answers(section(name))}


def cell(source, printed=None, **metadata):
    """An executed cell of code."""
    output = {"output_type": "stream", "name": "stdout", "text": printed}
    return {
        "cell_type": "code",
        "source": source,
        "metadata": {"tags": ["answer"], **metadata},
        "execution_count": None if printed is None else 1,
        "outputs": [output] if printed else [],
    }


def text(source):
    return {"cell_type": "markdown", "source": source, "metadata": {}}


@pytest.mark.parametrize("name", section_names())
def test_each_section_has_exercises_with_solutions_and_one_that_a_cell_answers(name):
    cells = section(name)
    prose = "\n".join(c.source for c in cells if c.cell_type == "markdown")
    labels = [match["label"] for match in EXERCISE.finditer(prose)]
    assert 3 <= len(labels) <= 5
    assert [match["label"] for match in SOLUTION.finditer(prose)] == labels
    assert len({match["title"] for match in EXERCISE.finditer(prose)}) == len(labels)
    mine = answers(cells)
    assert mine
    assert {a.exercise for a in mine} <= set(labels)
    story = prose.partition("\n# ")[0]
    assert story.index("## Limits") < story.index("## Exercises") < story.index("## Try")


@pytest.mark.parametrize("name", ANSWERS, ids=list(ANSWERS))
def test_an_answer_runs_alone_and_is_what_its_cell_says(name):
    answer = ANSWERS[name]
    with redirect_stdout(io.StringIO()) as said:
        exec(
            compile(answer.source, name, "exec"), {"__name__": "__main__"}
        )  # its own imports and no other names
    assert said.getvalue().strip() == answer.says
    assert answer.says
    assert len(answer.source.splitlines()) <= LONGEST


def test_an_answer_belongs_to_the_solution_that_it_stands_in():
    cells = [
        text("```{solution} ex-one\nWords.\n```\n\n```{solution-start} ex-two\n```\n"),
        cell("print(2)", "2\n", says="2"),
        text("More.\n\n```{solution-end}\n```\n"),
        cell("print(3)", says="3"),
    ]
    assert answers(cells) == [Answer("ex-two", "print(2)", "2", "2"), Answer("", "print(3)", "3", None)]


def test_an_answer_that_is_not_what_its_cell_promises_stops_the_build():
    assert wrong_answers([cell("print(2)", "2\n", says="2"), {**cell("x"), "metadata": {}}]) == []
    for wrong in (cell("print(2)", "2\n", says="3"), cell("print(2)", says="2"), cell("print(2)", "2\n")):
        (line,) = wrong_answers([text("```{solution-start} ex-one\n```"), wrong])
        assert line.startswith("the answer to ex-one is ")
