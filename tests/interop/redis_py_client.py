#!/usr/bin/python3
"""redis-py's Lock, as redis_py_test.cpp wants it: PORT COMMAND ARGUMENT...

Prints what happened, line by line. Nothing waits for longer than `patience`.
"""
import sys
import time

import redis
from redis.exceptions import LockError, LockNotOwnedError

patience = 20
connection = redis.Redis(host="127.0.0.1", port=int(sys.argv[1]))


def say(text):
    print(text, flush=True)


def until(condition):
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            sys.exit("it did not happen: waited for too long")
        time.sleep(0.005)


def outcome_of(action):
    """What redis-py says to it."""
    try:
        action()
        return "done"
    except LockNotOwnedError:
        return "not owned"
    except LockError as error:
        return f"error {error}"


def count_one(directory):
    """Adds 1 to an unprotected number, slowly, and notes that it was us."""
    with open(f"{directory}/counter") as file:
        number = int(file.read())
    time.sleep(0.001)
    with open(f"{directory}/counter", "r+") as file:  # in place and of one width: never half a number
        file.write(f"{number + 1:010}")
    with open(f"{directory}/turns", "a") as file:
        file.write("p")


def enough(directory, turns):
    with open(f"{directory}/turns") as file:
        text = file.read()
    return text.count("p") >= turns and text.count("c") >= turns


def count(name, directory, turns):
    """Until each side had its turns."""
    end = time.monotonic() + 2 * patience
    while not enough(directory, int(turns)) and time.monotonic() < end:
        with connection.lock(name, timeout=10, sleep=0.01):
            count_one(directory)


def count_without_lock(name, directory, turns):
    while not enough(directory, int(turns)):
        count_one(directory)


def try_lock(name):
    say("granted" if connection.lock(name, timeout=10).acquire(blocking=False) else "busy")


def hold(name, timeout):
    """Until the key `go` is there. A timeout of 0 is none."""
    lock = connection.lock(name, timeout=float(timeout) or None, sleep=0.01)
    lock.acquire(blocking_timeout=patience)
    say(f"granted {lock.local.token.decode()}")
    until(lambda: connection.exists("go"))
    say(outcome_of(lock.release))


def outlive(name, timeout):
    """Holds it for longer than it may, until it is somebody else's."""
    lock = connection.lock(name, timeout=float(timeout), sleep=0.01)
    lock.acquire(blocking_timeout=patience)
    say("granted")
    until(lambda: connection.get(name) not in (None, lock.local.token))
    say(outcome_of(lambda: lock.extend(10)))
    say(outcome_of(lock.release))


globals()[sys.argv[2]](*sys.argv[3:])
