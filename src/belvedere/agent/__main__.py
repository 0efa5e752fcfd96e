"""`python -m belvedere.agent` is `belvedere agent`."""

import sys

from belvedere.agent.main import main

sys.exit(main())
