"""What GET /metrics says: figures of the hardware, under each vendor's names and under our own.

    pod_resources   who holds which device       history   which errors there were
    load, meter     how busy it is, and was      readings  all of it, per unit of hardware
    dcgm, amd, ascend, unified, own              families of metrics, made of readings
    families, exposition                         values, and their text
    scraper, style, endpoint                     the whole answer, and what of it can be chosen

Names, types and labels are the vendors'; the figures behind them are made up.
"""
