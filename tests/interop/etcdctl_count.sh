#!/bin/sh
# etcdctl_count.sh <endpoint> <lock> <folder> <turns> [without]: adds one to the number in a file under the lock of
# `etcdctl lock`, again and again, until each side had its turns. "without": does not take the lock.
endpoint=$1 lock=$2 folder=$3 turns=$4
# shellcheck disable=SC2016  # etcdctl runs it in a shell of its own
count='n=$(cat "$0/counter"); sleep 0.002; printf "%010d" $((${n#"${n%%[!0]*}"} + 1)) >"$0/new.$$" && cat "$0/new.$$" 1<>"$0/counter" >&1; rm -f "$0/new.$$"; printf e >>"$0/turns"'
export ETCDCTL_API=3
while :; do
  ours=$(tr -cd e <"$folder/turns" | wc -c)
  theirs=$(tr -cd c <"$folder/turns" | wc -c)
  if [ "$ours" -ge "$turns" ] && [ "$theirs" -ge "$turns" ]; then exit 0; fi
  if [ "$5" = without ]; then
    sh -c "$count" "$folder"
  else
    etcdctl --endpoints="$endpoint" lock "$lock" -- sh -c "$count" "$folder" >/dev/null || exit 1
  fi
done
