package main

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"time"

	"go.etcd.io/etcd/clientv3"
	"go.etcd.io/etcd/clientv3/concurrency"
)

const threads = 16

var background = context.Background()

func newSession(client *clientv3.Client) *concurrency.Session {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(60))
	check(err)
	return session
}

func lock(mutex *concurrency.Mutex)   { check(mutex.Lock(background)) }
func unlock(mutex *concurrency.Mutex) { check(mutex.Unlock(background)) }

// median of what a call takes, in microseconds.
func median(duration time.Duration, call func()) float64 {
	var taken []float64
	for end := time.Now().Add(duration); time.Now().Before(end); {
		began := time.Now()
		call()
		taken = append(taken, float64(time.Since(began))/1000)
	}
	sort.Float64s(taken)
	return taken[(len(taken)-1)/2]
}

func pair(client *clientv3.Client, duration time.Duration) float64 {
	session := newSession(client)
	defer session.Close()
	mutex := concurrency.NewMutex(session, "peer/pair")
	return median(duration, func() {
		lock(mutex)
		unlock(mutex)
	})
}

func raw(client *clientv3.Client, duration time.Duration) float64 {
	return median(duration, func() {
		for i := 0; i < 2; i++ {
			_, err := client.Put(background, "peer/raw", "0123456789abcdef")
			check(err)
		}
	})
}

// inParallel runs a call for each thread, and for each second of it says what they sum up to.
func inParallel(run func(thread int) int) float64 {
	var group sync.WaitGroup
	counts := make([]int, threads)
	began := time.Now()
	for i := 0; i < threads; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			counts[i] = run(i)
		}(i)
	}
	group.Wait()
	taken := time.Since(began).Seconds()
	sum := 0
	for _, count := range counts {
		sum += count
	}
	return float64(sum) / taken
}

func spread(client *clientv3.Client, duration time.Duration) float64 {
	session := newSession(client)
	defer session.Close()
	end := time.Now().Add(duration)
	return inParallel(func(thread int) int {
		mutex := concurrency.NewMutex(session, fmt.Sprint("peer/spread-", thread))
		pairs := 0
		for ; time.Now().Before(end); pairs++ {
			lock(mutex)
			unlock(mutex)
		}
		return pairs
	})
}

// A session for each thread: those of one session would all have the same lock at once.
func one(client *clientv3.Client, duration time.Duration) float64 {
	sessions := make([]*concurrency.Session, threads)
	for i := range sessions {
		sessions[i] = newSession(client)
		defer sessions[i].Close()
	}
	last := -1 // guarded by the lock that is measured
	end := time.Now().Add(duration)
	return inParallel(func(thread int) int {
		mutex := concurrency.NewMutex(sessions[thread], "peer/one")
		changes := 0
		for time.Now().Before(end) {
			lock(mutex)
			if last != thread {
				changes++
			}
			last = thread
			unlock(mutex)
		}
		return changes
	})
}

func processes(client *clientv3.Client, turns *turns, me int32) float64 {
	defer turns.close()
	session := newSession(client)
	defer session.Close()
	mutex := concurrency.NewMutex(session, "peer/processes")
	grants := 0
	for ; !turns.over(); grants++ {
		lock(mutex)
		turns.takenBy(me)
		turns.aboutToRelease()
		unlock(mutex)
	}
	return float64(grants)
}
