"""Completion for bash, zsh and fish: commands, options, choices, names of measures and files, as a script."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from shlex import quote

__all__ = ["SHELLS", "completion_script"]

SHELLS = ("bash", "zsh", "fish")

_BASH = """# completion of amble: put `eval "$(amble --completion {shell})"` into ~/.{shell}rc
{before}_amble() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words={commands}
    else
        case "${{COMP_WORDS[1]}} $prev" in
{choices}
        esac
        if [ -z "$words" ] && [ "${{cur#-}}" != "$cur" ]; then
            case "${{COMP_WORDS[1]}}" in
{options}
            esac
        fi
        if [ -z "$words" ] && [ "${{cur#-}}" = "$cur" ]; then
            case "${{COMP_WORDS[1]}}" in
{positionals}
            esac
            # files, too: what is not one of these words
            [ -z "$words" ] || COMPREPLY=($(compgen -f -- "$cur"))
        fi
    fi
    if [ -n "$words" ]; then
        COMPREPLY+=($(compgen -W "$words" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}}
complete -o filenames -F _amble amble amble-ir
"""


def completion_script(
    shell: str, commands: Mapping[str, str], parsers: Mapping[str, argparse.ArgumentParser], measures: Iterable[str]
) -> str:
    """The script that tells a shell how to complete the words of amble.

    Parameters
    ----------
    shell : {"bash", "zsh", "fish"}
    commands : mapping of str to str
        Each command, and what it does.
    parsers : mapping of str to ArgumentParser
        Its arguments.
    measures : iterable of str
        What may follow ``-m``.
    """
    names = " ".join(measures)
    if shell == "fish":
        return "\n".join(_fish(commands, parsers, names)) + "\n"
    choices = [
        (f'"{command} "{option}', words)
        for command, parser in parsers.items()
        for action in parser._actions
        if (words := _words(action, names))
        for option in action.option_strings
    ]
    options = [
        (command, " ".join(option for action in parser._actions for option in action.option_strings))
        for command, parser in parsers.items()
    ]
    positionals = [
        (command, " ".join(known))
        for command, parser in parsers.items()
        if (known := [found for action in parser._get_positional_actions() if (found := _words(action, names))])
    ]
    return _BASH.format(
        shell=shell,
        before="autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" if shell == "zsh" else "",
        commands=quote(" ".join(commands)),
        choices="\n".join(f"            {case}) words={quote(words)} ;;" for case, words in choices),
        positionals="\n".join(f"                {case}) words={quote(words)} ;;" for case, words in positionals),
        options="\n".join(f"                {case}) words={quote(words)} ;;" for case, words in options),
    )


def _words(action: argparse.Action, measures: str) -> str:
    """What may follow an option, if that is known."""
    if action.dest in ("measure", "measures", "fail_if", "sort"):
        return measures
    return " ".join(map(str, action.choices or ()))


def _fish(commands: Mapping[str, str], parsers: Mapping[str, argparse.ArgumentParser], measures: str) -> Iterable[str]:
    yield "# completion of amble: amble --completion fish > ~/.config/fish/completions/amble.fish"
    for name, what in commands.items():
        yield f"complete -c amble -n __fish_use_subcommand -a {name} -d {quote(what)}"
    for name, parser in parsers.items():
        for action in parser._get_positional_actions():  # files are completed anyhow
            if words := _words(action, measures):
                yield f"complete -c amble -n '__fish_seen_subcommand_from {name}' -a {quote(words)}"
        for action in filter(lambda action: action.option_strings, parser._actions):
            keys = " ".join(
                f"-l {key[2:]}" if key.startswith("--") else f"-s {key[1:]}" for key in action.option_strings
            )
            words = _words(action, measures)
            follows = f" -xa {quote(words)}" if words else "" if action.nargs == 0 else " -r"
            about = quote((action.help or "").partition(" (default")[0].replace("%%", "%"))
            yield f"complete -c amble -n '__fish_seen_subcommand_from {name}' {keys}{follows} -d {about}"
    yield "complete -c amble-ir -w amble"
