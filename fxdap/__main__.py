"""`python -m fxdap` is the `fxdap` command."""

import sys

from fxdap.cli import main

sys.exit(main())
