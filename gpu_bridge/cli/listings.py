"""``gpu-bridge devices``, ``options``, ``warm-up`` and ``--version``."""

from __future__ import annotations

from gpu_bridge.cli.exit_codes import ExitCode


def run_devices() -> ExitCode:
    """List the devices; return the exit code."""
    from gpu_bridge.api import devices
    from gpu_bridge.report.log_text import byte_size

    found = devices()
    for device in found:
        free = f", {byte_size(device.memory_free)} free" if device.memory_free else ""
        total = f", {byte_size(device.memory_total)}{free}" if device.memory_total else ""
        note = f" - cannot be used: {device.note}" if device.note else ""
        print(f"{device.kind:<6}{device.name}{total}{note}")
    if all(device.kind == "cpu" for device in found):
        print("No NVIDIA GPU is visible here, so every engine runs on the CPU.")
    return ExitCode.OPTIMAL


def run_options() -> ExitCode:
    """Show the option table; return the exit code."""
    from gpu_bridge.report.option_docs import text_table

    print(text_table(), end="")
    return ExitCode.OPTIMAL


def run_warm_up() -> ExitCode:
    """Say that nothing is to be compiled; return the exit code."""
    from gpu_bridge.warm_up import warm_up

    warm_up(print)
    return ExitCode.OPTIMAL


def run_version() -> ExitCode:
    """Show the versions that matter for a report; return the exit code."""
    from gpu_bridge.report.log_text import version_line

    print(version_line())
    return ExitCode.OPTIMAL
