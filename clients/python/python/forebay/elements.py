"""Which columns of a batch a framework's loader gives, and how it packs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, TypeVar

from forebay.batches import Batches
from forebay.column_names import check_columns
from forebay.errors import SettingsError
from forebay.loader import Loader
from forebay.step_form import refuse_ragged

if TYPE_CHECKING:
    from forebay.settings import AnySource

__all__ = ["opened", "packed"]

T = TypeVar("T")


def opened(
    source: AnySource | Loader,
    settings: dict[str, Any],
    names: list[str],
    use: Callable[[Loader], T],
    *,
    ragged: bool = False,
) -> T:
    """What `use` makes of a Loader: of the caller's, or of one that is opened here, and closed again if `use` fails.

    Args:
        source: A Loader, or the source of one.
        settings: The arguments of the Loader that is opened here.
        names: The columns that `use` takes.
        use: Called with the Loader.
        ragged: Whether `use` takes columns with a list for each place.

    Raises:
        SettingsError: There are settings beside a Loader, or there is no such column, or it has lists that `use` does
            not take, or the pixels are in memory of a GPU.
    """
    if not isinstance(source, Batches):
        loader = Loader(source, **settings)
    elif settings:
        raise SettingsError(
            f"{next(iter(settings))}: the Loader has its settings already; give source and settings here"
        )
    else:
        loader = source
    try:
        _check(loader, names, ragged=ragged)
        return use(loader)
    except BaseException:
        if loader is not source:
            loader.close()
        raise


def _check(loader: Loader, names: list[str], *, ragged: bool) -> None:
    if loader.placement != "host":
        raise SettingsError(
            f'the pixels are in {loader.placement}: set placement="host", or copy them as docs/operating.md shows'
        )
    refuse_ragged(loader._feed.form, "buckets")
    check_columns(loader, names)
    lists = [name for name, _, levels, _ in loader._feed.session.rings()[0].columns if levels and name in names]
    if lists and not ragged:
        raise SettingsError(
            f"elements: {lists[0]!r} has a list for each place, which no array here can have: read the Loader"
        )


def packed(names: list[str], values: list[Any], *, as_dict: bool) -> Any:  # noqa: ANN401 - a tuple, a dict or a value
    """The values of a batch as a dict, a tuple, or the one that there is."""
    if as_dict:
        return dict(zip(names, values))
    return tuple(values) if len(values) > 1 else values[0]
