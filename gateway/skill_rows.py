"""A skill as JSON, for the command line and the web page."""

from __future__ import annotations

from agent.model.base import Json
from agent.skills import Skill


def skill_row(skill: Skill) -> dict[str, Json]:
    return {
        "name": skill.name,
        "origin": str(skill.origin),
        "path": skill.path,
        "description": skill.description,
        "always": skill.always,
        "shared": skill.shared,
        "requires": {"bins": list(skill.bins), "env": list(skill.env)},
        "missing": list(skill.missing),
        "problem": skill.problem,
        "remarks": list(skill.remarks),
        "beside": list(skill.beside),
    }
