"""What an activation does to what it is given, or asks of it: what its caller, or a summary, has to know."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Effects:
    """What is done in a function, whatever it is called with; a summary keeps it as it is at the end."""

    asks_parameters: bool = False
    """What happens depends on what a parameter is."""
    asks_constants: bool = False
    """It depends even on the text or number that a parameter is."""
    chooses: set[str] = field(default_factory=set)
    """The parameters of which a test, or what is looked up by them, decides what is done."""
    leaves_open: bool = False
    """A call of the library passes what is not known here, and may be to somebody who calls this."""
    forwards: bool = False
    """A call of the library passes on what the function's own caller gives."""
    uses_library: bool = False
    fills: bool = False
    """Something that it is given may be changed here: a container gets other content."""
    hands_over: bool = False
    """Something that it is given goes on to somebody who may change it."""
    sets: bool = False
    """An attribute of an instance is set."""
    looks_at: set[str] = field(default_factory=set)
    """Attributes that are read of any instance."""
    changes: set[int] = field(default_factory=set)
    """The containers whose content is changed."""
    replaces: set[str] = field(default_factory=set)
    """What of the library it puts something else in the place of, and leaves it there; see `interpreter.replaced`."""
    raises: set[str] = field(default_factory=set)
    """What may be raised out of it: `exceptions.ANYTHING`, `FOREIGN` or names of exceptions."""

    def on_parameters(self, callee: Effects) -> None:
        """A function is called with what may be this one's own parameters: what it does with them is done here."""
        self.asks_parameters |= callee.asks_parameters
        self.asks_constants |= callee.asks_constants
        self.leaves_open |= callee.leaves_open
        self.fills |= callee.fills
        self.hands_over |= callee.hands_over

    def on_instances(self, callee: Effects) -> None:
        """A function is called that may be of the same instance."""
        self.sets |= callee.sets
        self.looks_at |= callee.looks_at

    def on_call(self, callee: Effects, *, nested: bool) -> None:
        """A call has been followed; a `nested` function sees the parameters of the one round it."""
        self.asks_parameters |= (callee.asks_parameters and nested) or callee.forwards
        self.forwards |= callee.forwards
        self.leaves_open |= callee.leaves_open
        self.fills |= callee.fills and nested
        self.changes |= callee.changes
        self.replaces |= callee.replaces
        self.on_instances(callee)
