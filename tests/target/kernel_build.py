"""Builds a program of this folder's kernel/ with FreeRTOS and the recorder's hooks, for the
Cortex-M3 of the board mps2-an385."""
import os
import re
import subprocess

from target_run import CORTEX_M3, RIG, SOURCE, TESTS, require, run

KERNEL_TESTS = os.path.join(TESTS, "kernel")
RECORDER = os.environ.get("TARE_RECORDER", os.path.join(SOURCE, "recorder"))
MACHINE = ["-mcpu=cortex-m3", "-mthumb", "-O2", "-g", "-ffunction-sections", "-fdata-sections",
           "-Wall", "-Wextra", "-Werror", "-DMPS2_NOTE=385"]


def debian_kernel():
    """The kernel that the demo runs on: FreeRTOS 9 out of Debian's source package. None, when it
    cannot be fetched."""
    fetched = subprocess.run([os.path.join(SOURCE, "tools", "fetch_sources.sh"), "freertos"],
                             check=False, timeout=100)
    if fetched.returncode == 3:
        return None
    require(fetched.returncode == 0, f"fetch_sources.sh: status {fetched.returncode}")
    return os.path.join(os.environ.get("TARE_SOURCES", os.path.join(SOURCE, "build", "sources")),
                        "freertos", "Source")


def kernel_version(path):
    """The text that the kernel has for its version, such as V10.6.2, and 1006 for it."""
    with open(os.path.join(path, "include", "task.h"), encoding="utf-8") as file:
        text = file.read()
    number = {part: int(re.search(rf"tskKERNEL_VERSION_{part}\s+(\d+)", text)[1])
              for part in ("MAJOR", "MINOR")}
    return re.search(r'tskKERNEL_VERSION_NUMBER\s+"([^"]+)"', text)[1], \
        100 * number["MAJOR"] + number["MINOR"]


def options_for(path):
    """The compiler's options for all that sees the kernel's headers."""
    port = os.path.join(path, "portable", "GCC", "ARM_CM3")
    for file in (os.path.join(path, "tasks.c"), os.path.join(port, "port.c")):
        require(os.path.isfile(file), f"{path} is no FreeRTOS kernel: it has no "
                f"{os.path.relpath(file, path)}")
    options = ["-I" + KERNEL_TESTS, "-I" + RIG, "-I" + os.path.join(TESTS, "cortexm3"),
               "-I" + os.path.join(RECORDER, "hook"), "-I" + RECORDER,
               "-isystem", os.path.join(path, "include"), "-isystem", port]
    with open(os.path.join(path, "queue.c"), encoding="utf-8") as file:
        if "define pxMutexHolder" in file.read():
            options.append("-DTARE_FREERTOS_OLD_HOLDER")
    return options


def compile_all(standard, sources, options, folder):
    os.makedirs(folder, exist_ok=True)
    objects = []
    for source in sources:
        objects.append(os.path.join(folder, os.path.basename(source)[:-2] + ".o"))
        run("arm-none-eabi-gcc", f"-std={standard}", *MACHINE, *options, "-c", source, "-o",
            objects[-1])
    return objects


def build_on_kernel(path, name, programs, *options, conf="kernel_conf.h"):
    """Builds NAME from the programs of kernel/, the recorder and the kernel at `path`. Its objects
    are left in the folder NAME.objects."""
    options = [*options_for(path), f'-DTARE_CONF_FILE="{conf}"', *options]
    folder = name + ".objects"
    kernel = [os.path.join(path, file + ".c") for file in
              ("tasks", "queue", "list", "timers", "event_groups", "stream_buffer",
               "portable/GCC/ARM_CM3/port", "portable/MemMang/heap_4")]
    objects = compile_all("c99", [os.path.join(RECORDER, "tare.c"),
                                  os.path.join(RECORDER, "hook", "tare_freertos.c")],
                          ["-pedantic", "-ffreestanding", *options], folder)
    objects += compile_all("gnu11", [os.path.join(KERNEL_TESTS, program) for program in programs] +
                           [os.path.join(RIG, "mps2_start.c")],
                           ["-Wno-unused-function", *options], folder)  # of target_drain.h
    # The hooks expand in here: their own warnings count, those of an old kernel do not.
    objects += compile_all("gnu11", [file for file in kernel if os.path.isfile(file)],
                           ["-Wno-unused-parameter", *options], folder)
    run("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-nostartfiles", "--specs=nano.specs",
        "-Wl,--gc-sections", "-T", os.path.join(RIG, "mps2.ld"), "-Wl,--defsym=mps2_code=0",
        f"-Wl,--defsym=mps2_ram={CORTEX_M3.ram:#x}", *objects, "-o", name)
