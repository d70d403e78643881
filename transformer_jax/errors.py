"""The one exception for what a user gave and can mend."""


class InputError(ValueError):
    """A value, file or folder given by the user is unusable.

    The message is one clear line: what was given, what is wrong with it, how to mend it. The
    programs print it without a traceback.
    """
