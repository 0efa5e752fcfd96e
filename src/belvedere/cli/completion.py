"""`belvedere completion`: shell completion scripts, generated from the commands."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from belvedere.cli.framework.command import Args, Command, option

if TYPE_CHECKING:
    from belvedere.cli.reference import CommandPage

BASH = """\
_belvedere() {{
  local words
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}" in
{cases}
    *) words="" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{groups}"
  elif [ "$COMP_CWORD" -eq 2 ]; then
    case "${{COMP_WORDS[1]}}" in
{group_cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _belvedere belvedere"""

ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def script(args: Args) -> str:
    return (ZSH if args.shell == "zsh" else "") + bash()


def bash() -> str:
    from belvedere.cli import reference

    groups: dict[str, list[str]] = {}
    cases: list[str] = []
    for page in reference.pages():
        _, group, *names = page.path.split()
        flags = " ".join(_flags(page))
        groups.setdefault(group, []).extend(names or [flags])
        cases.append(f'    "{group} {names[0] if names else ""}"*) words="{flags}" ;;')
    group_cases = [
        f'      {group}) words="{" ".join(words)}" ;;' for group, words in groups.items()
    ]
    return BASH.format(
        cases="\n".join(cases), groups=" ".join(groups), group_cases="\n".join(group_cases)
    )


def _flags(page: "CommandPage") -> Iterator[str]:
    for action in page.parser._actions:
        yield from (flag for flag in action.option_strings if flag.startswith("--"))


COMMANDS = (
    Command(
        "completion",
        script,
        "Print a completion script for bash or zsh.",
        'eval "$(belvedere completion bash)"',
        print,
        options=(option("shell", choices=("bash", "zsh"), help="the shell"),),
        is_remote=False,
        has_json=False,
    ),
)
