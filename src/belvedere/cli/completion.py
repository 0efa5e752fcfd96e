"""`belvedere completion`: shell completion scripts, generated from the commands."""

from collections.abc import Iterator
from typing import NamedTuple

from belvedere.cli.framework.command import (
    Args,
    Command,
    CommandError,
    Parser,
    command_parser,
    option,
    parser,
)
from belvedere.cli.framework.profile import connect

BASH = """\
_belvedere() {{
  local words kind name current="${{COMP_WORDS[COMP_CWORD]}}"
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
  case "${{COMP_WORDS[COMP_CWORD-1]}}" in
{option_cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ -n "$kind" ] && [ "${{current#-}}" = "$current" ]; then
    while IFS= read -r name; do
      case "$name" in "${{current//\\\\/}}"*) COMPREPLY+=("$(printf %q "$name")") ;; esac
    done < <(belvedere completion --names "$kind" 2> /dev/null)
  fi
}}
complete -o default -F _belvedere belvedere"""

SHELLS = ("bash", "zsh", "fish")
# Completion must be on before the functions of bash; most people have it on already.
ZSH = """\
(( $+functions[compdef] )) || { autoload -U compinit && compinit -u }
autoload -U +X bashcompinit && bashcompinit
"""
FISH = """\
function __belvedere_names
  set -l current (commandline -ct)
  string match -q -- '-*' $current; or belvedere completion --names $argv[1] 2> /dev/null
end
function __belvedere_is
  set -l words (commandline -opc)
  for n in (seq (count $argv))
    set -l at (math $n + 1)
    test "$words[$at]" = "$argv[$n]"; or return 1
  end
end
function __belvedere_word_count
  test (count (commandline -opc)) -eq $argv[1]
end
complete -c belvedere -f
{lines}"""
# What an argument names, by its metavar or flag: the path of its list, and the field with the name.
KINDS = {
    "task": ("/task", "name"),
    "host": ("/host", "hostname"),
    "monitor": ("/monitor", "name"),
    "workflow": ("/workflows", "name"),
    "schedule": ("/schedule", "name"),
    "webhook": ("/webhook", "name"),
    "indicator": ("/indicator", "title"),
}


class CommandPage(NamedTuple):
    """A command as it is typed, with its help, an example and its parser."""

    path: str
    help: str
    example: str
    parser: Parser


def pages() -> Iterator[CommandPage]:
    """All commands."""
    from belvedere.cli import main

    for group in main.COMMAND_GROUPS:
        module = main.module_of(group)
        if not hasattr(module, "COMMANDS"):
            path, example = f"belvedere {group.name}", getattr(module, "EXAMPLE", "")
            built = parser(path, group.help, "")
            module.register(built)
            yield CommandPage(path, f"{group.help[0].upper()}{group.help[1:]}.", example, built)
            continue
        single = [command for command in module.COMMANDS if command.name == group.name]
        for command in single or module.COMMANDS:
            path = f"belvedere {group.name}" if single else f"belvedere {group.name} {command.name}"
            yield CommandPage(path, command.help, command.example, command_parser(path, command))


def script(args: Args) -> str:
    if args.names:
        return names(args)
    if not args.shell:
        raise CommandError("Name the shell: belvedere completion bash", 2)
    if args.shell == "fish":
        return fish()
    return (ZSH if args.shell == "zsh" else "") + bash()


def names(args: Args) -> str:
    path, field = KINDS[args.names]
    return "\n".join(sorted({str(record[field]) for record in connect(args).get(path)}))


def bash() -> str:
    groups: dict[str, list[str]] = {}
    cases: list[str] = []
    for page in pages():
        _, group, *names = page.path.split()
        flags = " ".join(_flags(page))
        groups.setdefault(group, []).extend(names or [flags])
        kind = f" kind={_kind(page)}" if _kind(page) else ""
        cases.append(f'    "{group} {names[0] if names else ""}"*) words="{flags}"{kind} ;;')
    group_cases = [
        f'      {group}) words="{" ".join(words)}" kind="" ;;'
        for group, words in groups.items()
        if not words[0].startswith("-")
    ]
    return BASH.format(
        cases="\n".join(cases),
        groups=" ".join(groups),
        group_cases="\n".join(group_cases),
        option_cases="\n".join(f'    --{kind}) words="" kind={kind} ;;' for kind in KINDS),
    )


def fish() -> str:
    from belvedere.cli import main

    lines = [
        _fish("__belvedere_word_count 1", f"-a {group.name} -d {_quoted(group.help)}")
        for group in main.COMMAND_GROUPS
    ]
    for page in pages():
        _, group, *names = page.path.split()
        condition = " ".join(("__belvedere_is", group, *names))
        if names:
            words = f"-a {names[0]} -d {_quoted(page.parser.description or '')}"
            lines.append(_fish(f"__belvedere_is {group}; and __belvedere_word_count 2", words))
        if _kind(page):
            lines.append(_fish(condition, f"-a '(__belvedere_names {_kind(page)})'"))
        lines.extend(_fish(condition, words) for words in _fish_options(page))
    return FISH.format(lines="\n".join(lines))


def _fish(condition: str, words: str) -> str:
    return f"complete -c belvedere -n '{condition}' {words}"


def _fish_options(page: CommandPage) -> Iterator[str]:
    for action in page.parser._actions:
        flag = next((flag for flag in action.option_strings if flag.startswith("--")), "")
        name = flag.removeprefix("--")
        if not flag:
            continue
        is_kind = name in KINDS and "--customer" in _flags(page)
        values = f" -x -a '(__belvedere_names {name})'" if is_kind else ""
        needs_value = " -r" if action.nargs is None and not values else ""
        yield f"-l {name}{values or needs_value} -d {_quoted(action.help or '')}"


def _quoted(text: str) -> str:
    """The first sentence, in the quotes of fish, where only \\ and ' need a backslash."""
    sentence = text.replace("%%", "%").partition(". ")[0].rstrip(".")
    return "'" + sentence.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _kind(page: CommandPage) -> str:
    """What the first argument of the command names."""
    positionals = [action for action in page.parser._actions if not action.option_strings]
    metavar = str(positionals[0].metavar).lower() if positionals else ""
    return metavar if metavar in KINDS else ""


def _flags(page: CommandPage) -> Iterator[str]:
    for action in page.parser._actions:
        yield from (flag for flag in action.option_strings if flag.startswith("--"))


COMMANDS = (
    Command(
        "completion",
        script,
        "Print a completion script for bash, zsh or fish: commands, options and names.",
        'eval "$(belvedere completion bash)"   # fish: belvedere completion fish | source',
        print,
        options=(
            option("shell", nargs="?", choices=SHELLS, help="the shell"),
            option("--names", choices=tuple(KINDS), help="print the names of this kind instead"),
        ),
        has_json=False,
    ),
)
