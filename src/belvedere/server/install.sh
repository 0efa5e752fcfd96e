#!/bin/sh
# Makes this machine a host of $server
#
#   curl -fsSL $server/-/install.sh | sudo BELVEDERE_ENROLMENT_TOKEN=bve_... sh
#
# Without sudo the agent is a service of your own user. With sudo, the token must follow the word
# sudo, because sudo does not pass on variables that are set before it.
#
# To upgrade the agent of a machine that is enrolled already, leave out the token.
#
# Further words are options of the agent: ... | sh -s -- --hostname web-7
set -eu

for python in python3 python3.14 python3.13 python3.12 python3.11; do
  if command -v "$$python" >/dev/null 2>&1 &&
    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    found="$$python"
    break
  fi
done
if [ -z "$${found:-}" ]; then
  echo "install.sh: this machine has no Python 3.11 or newer; install one and try again." >&2
  exit 1
fi

folder=$$(mktemp -d)
trap 'rm -rf "$$folder"' EXIT
"$$found" - "$$folder/belvedere-agent.pyz" <<'END'
import hashlib, sys, urllib.request
with urllib.request.urlopen("$server/-/belvedere-agent.pyz", timeout=60) as answer:
    content = answer.read()
if hashlib.sha256(content).hexdigest() != "$digest":
    sys.exit("install.sh: the SHA-256 of the downloaded agent is wrong; run the command again.")
open(sys.argv[1], "wb").write(content)
END
"$$found" -I "$$folder/belvedere-agent.pyz" install --server "$server" "$$@" || {
  if [ -z "$${BELVEDERE_ENROLMENT_TOKEN:-}" ]; then
    echo "install.sh: no enrolment token. Create one (belvedere enrolment create) and run:" >&2
    if [ -n "$${SUDO_USER:-}" ]; then
      echo "  curl -fsSL $server/-/install.sh | sudo BELVEDERE_ENROLMENT_TOKEN=bve_... sh" >&2
      echo "The token must follow the word sudo: sudo removes variables set before it." >&2
    else
      echo "  curl -fsSL $server/-/install.sh | BELVEDERE_ENROLMENT_TOKEN=bve_... sh" >&2
    fi
  fi
  exit 1
}
