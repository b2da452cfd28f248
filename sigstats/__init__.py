"""Statistics for people who evaluate classifiers: exact, Monte-Carlo, bootstrap and permutation tests."""

# The names stand in __init__.pyi. Each is imported when it is first used, so that a command that needs one of them does
# not wait for all.
try:
    import lazy_loader

    from ._common.extras import MissingExtra, name_extras, with_uses

    name_extras()
    _public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

    def __getattr__(name: str) -> object:
        """Return a public name, or the installed version."""
        if name == "__version__":
            from importlib.metadata import version

            return version(__name__)
        try:
            return with_uses(_public(name))
        except MissingExtra as error:  # `from sigstats import *` must work; a call of this name raises the error
            missing = error

            def unavailable(*_: object, **__: object) -> None:
                raise missing

            return unavailable
        except AttributeError:
            from ._common.calls import MOVED, moved
            from ._common.messages import did_you_mean

            if name in MOVED:
                return moved(name)

            raise AttributeError(f"sigstats has no {name}{did_you_mean(name, __all__)}") from None
except Exception as error:  # `sigstats.__main__` is imported through here, and says in one line what is broken
    _broken = error

    def __getattr__(name: str) -> object:
        """State why no name can be looked up."""
        raise AttributeError(f"sigstats.{name} cannot be looked up: {_broken}") from _broken
