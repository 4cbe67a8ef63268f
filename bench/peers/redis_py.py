#!/usr/bin/python3
"""redis-py's Lock, as a user would write it. Each line of the input asks for a number (bench/driver.hpp):

pair N     N times: acquire and release; microseconds for each
relay N S  N threads with one lock for S seconds; how often another thread than before had it, for each second
"""

import sys
import threading
import time

import redis

server = redis.Redis(port=int(sys.argv[1]))


def new_lock():
    return server.lock("bench/redis-py", timeout=30)


def pair(times):
    lock = new_lock()
    began = time.perf_counter()
    for _ in range(times):
        lock.acquire()
        lock.release()
    return (time.perf_counter() - began) / times * 1e6


def relay(threads, seconds):
    end = time.perf_counter() + seconds
    last = None
    changes = 0

    def run(me):
        nonlocal last, changes
        lock = new_lock()
        while time.perf_counter() < end:
            with lock:
                changes += last is not None and last != me
                last = me

    runners = [threading.Thread(target=run, args=(i,)) for i in range(threads)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    return changes / seconds


print("ready", flush=True)
for line in sys.stdin:
    what, *numbers = line.split()
    if what == "pair":
        print(pair(int(numbers[0])), flush=True)
    elif what == "relay":
        print(relay(int(numbers[0]), float(numbers[1])), flush=True)
