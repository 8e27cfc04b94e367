"""``python -m gpu_bridge`` is the command ``gpu-bridge``."""

import sys

from gpu_bridge.cli import main

if __name__ == "__main__":
    sys.exit(main())
