"""`belvedere completion`: completion scripts, made from the commands that there are."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from belvedere.cli.framework.command import Args, Verb, option

if TYPE_CHECKING:
    from belvedere.cli.reference import Page

BASH = """\
_belvedere() {{
  local words
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}" in
{cases}
    *) words="" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{nouns}"
  elif [ "$COMP_CWORD" -eq 2 ]; then
    case "${{COMP_WORDS[1]}}" in
{verbs}
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

    nouns: dict[str, list[str]] = {}
    cases: list[str] = []
    for page in reference.pages():
        _, noun, *verb = page.path.split()
        flags = " ".join(_flags(page))
        nouns.setdefault(noun, []).extend(verb or [flags])
        cases.append(f'    "{noun} {verb[0] if verb else ""}"*) words="{flags}" ;;')
    verbs = [f'      {noun}) words="{" ".join(words)}" ;;' for noun, words in nouns.items()]
    return BASH.format(cases="\n".join(cases), nouns=" ".join(nouns), verbs="\n".join(verbs))


def _flags(page: "Page") -> Iterator[str]:
    for action in page.made._actions:
        yield from (flag for flag in action.option_strings if flag.startswith("--"))


VERBS = (
    Verb(
        "completion",
        script,
        "Print a completion script for bash or zsh.",
        'eval "$(belvedere completion bash)"',
        print,
        options=(option("shell", choices=("bash", "zsh"), help="which shell"),),
        is_remote=False,
        has_json=False,
    ),
)
