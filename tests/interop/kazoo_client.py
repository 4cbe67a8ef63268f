#!/usr/bin/python3
"""kazoo's Lock, as zookeeper_test.cpp wants it: PORT COMMAND PATH ARGUMENT..."""
import sys
import time

from kazoo.client import KazooClient
from kazoo.recipe.lock import Lock

patience = 60
client = KazooClient(f"127.0.0.1:{sys.argv[1]}", timeout=10)
client.start(timeout=patience)


def lock_of(path):
    return Lock(client, path, "kazoo", extra_lock_patterns=["-lock-"])


def count_one(directory):
    """Adds 1 to an unprotected number, slowly, and notes that it was us."""
    with open(f"{directory}/counter") as file:
        number = int(file.read())
    time.sleep(0.001)
    with open(f"{directory}/counter", "r+") as file:  # in place and of one width: never half a number
        file.write(f"{number + 1:010}")
    with open(f"{directory}/turns", "a") as file:
        file.write("o")


def enough(directory, turns):
    with open(f"{directory}/turns") as file:
        text = file.read()
    return text.count("o") >= turns and text.count("c") >= turns


def count(path, directory, turns):
    end = time.monotonic() + patience
    while not enough(directory, int(turns)) and time.monotonic() < end:
        with lock_of(path):
            count_one(directory)


def try_lock(path):
    print("granted" if lock_of(path).acquire(blocking=False) else "busy", flush=True)


globals()[sys.argv[2]](*sys.argv[3:])
client.stop()
