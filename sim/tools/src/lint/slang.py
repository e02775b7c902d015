"""Compiles and analyses SystemVerilog with all of slang's warnings on.

Arguments are files; those of two designs are separated by "--". Ends with status 1 if anything was an error.
"""

import itertools
import sys

from pyslang import driver


def check(files):
    slang = driver.Driver()
    slang.addStandardArgs()
    line = " ".join(["slang", "-Weverything", *files])
    if not (slang.parseCommandLine(line) and slang.processOptions()):
        return False
    parsed = slang.parseAllSources()
    compilation = slang.createCompilation()
    slang.reportCompilation(compilation, True)
    slang.runAnalysis(compilation)
    return slang.reportDiagnostics(True) and parsed


groups = itertools.groupby(sys.argv[1:], lambda word: word == "--")
results = [check(list(files)) for separator, files in groups if not separator]
print(f"{len(results)} designs")
sys.exit(0 if results and all(results) else 1)
