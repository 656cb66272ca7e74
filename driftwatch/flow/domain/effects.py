"""What an activation does to what it is given, or asks of it: what its caller, or a summary, has to know."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Effects:
    """What is done in a function, whatever it is called with; a summary keeps it as it is at the end."""

    depends_on_parameters: bool = False
    """What happens depends on what a parameter is."""
    depends_on_constants: bool = False
    """It depends even on the text or number that a parameter is."""
    branches_on_parameters: set[str] = field(default_factory=set)
    """The parameters of which a test, or what is looked up by them, decides what is done."""
    passes_unknown: bool = False
    """A call of the library passes what is not known here, and may be to somebody who calls this."""
    forwards: bool = False
    """A call of the library passes on what the function's own caller gives."""
    uses_library: bool = False
    mutates: bool = False
    """Something that it is given may be changed here: a container gets other content."""
    passes_on: bool = False
    """Something that it is given goes on to somebody who may change it."""
    sets_attributes: bool = False
    """An attribute of an instance is set."""
    reads_attributes: set[str] = field(default_factory=set)
    """Attributes that are read of any instance."""
    changes: set[int] = field(default_factory=set)
    """The containers whose content is changed."""
    replaces: set[str] = field(default_factory=set)
    """What of the library it puts something else in the place of, and leaves it there; see `interpreter.replaced`."""
    raises: set[str] = field(default_factory=set)
    """What may be raised out of it: `exceptions.ANYTHING`, `FOREIGN` or names of exceptions."""

    def on_parameters(self, callee: Effects) -> None:
        """A function is called with what may be this one's own parameters: what it does with them is done here."""
        self.depends_on_parameters |= callee.depends_on_parameters
        self.depends_on_constants |= callee.depends_on_constants
        self.passes_unknown |= callee.passes_unknown
        self.mutates |= callee.mutates
        self.passes_on |= callee.passes_on

    def on_instances(self, callee: Effects) -> None:
        """A function is called that may be of the same instance."""
        self.sets_attributes |= callee.sets_attributes
        self.reads_attributes |= callee.reads_attributes

    def on_call(self, callee: Effects, *, nested: bool) -> None:
        """A call has been followed; a `nested` function sees the parameters of the one round it."""
        self.depends_on_parameters |= (callee.depends_on_parameters and nested) or callee.forwards
        self.forwards |= callee.forwards
        self.passes_unknown |= callee.passes_unknown
        self.mutates |= callee.mutates and nested
        self.changes |= callee.changes
        self.replaces |= callee.replaces
        self.on_instances(callee)
