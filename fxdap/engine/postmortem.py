"""Finding the graph runs that an exception came through, when they are over."""

from fxdap.engine.frame import Frame


def error_chain(error: BaseException) -> list[BaseException]:
    """The error and those it was raised from or while handling."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and not any(link is e for e in chain):
        chain.append(link)
        link = link.__cause__ or link.__context__
    return chain


def failed_frames(error: BaseException) -> list[Frame]:
    """The graph frames around the node that raised, outermost first; empty if no node did.

    The traceback holds them, with all their values, for as long as the error lives.
    """
    for link in error_chain(error):
        innermost = _innermost(link)
        if innermost is not None:
            frames = []
            frame: Frame | None = innermost
            while frame is not None:
                frames.append(frame)
                frame = frame.parent
            return frames[::-1]
    return []


def _innermost(error: BaseException) -> Frame | None:
    found: Frame | None = None
    traceback = error.__traceback__
    while traceback is not None:
        owner = traceback.tb_frame.f_locals.get("self")
        if isinstance(owner, Frame):
            found = owner
        traceback = traceback.tb_next
    return found
