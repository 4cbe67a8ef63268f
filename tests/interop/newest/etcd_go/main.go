// etcd_go ADDRESS LOCK FOLDER LETTER: counts under the mutex of etcd's Go client until FOLDER/over is there.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func appendTo(path, text string) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	check(err)
	_, err = file.WriteString(text)
	check(err)
	check(file.Close())
}

// countOne does what the script count_one does.
func countOne(folder, letter string) {
	counter := filepath.Join(folder, "counter")
	text, err := os.ReadFile(counter)
	check(err)
	number, err := strconv.Atoi(string(text))
	check(err)
	time.Sleep(time.Millisecond)
	file, err := os.OpenFile(counter, os.O_WRONLY, 0)
	check(err)
	_, err = fmt.Fprintf(file, "%010d", number+1)
	check(err)
	check(file.Close())
	appendTo(filepath.Join(folder, "turns"), letter)
}

func main() {
	address, lock, folder, letter := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, DialTimeout: time.Minute})
	check(err)
	defer client.Close()
	session, err := concurrency.NewSession(client, concurrency.WithTTL(20))
	check(err)
	defer session.Close()
	mutex := concurrency.NewMutex(session, lock)
	for {
		if _, err := os.Stat(filepath.Join(folder, "over")); err == nil {
			return
		}
		check(mutex.Lock(context.Background()))
		countOne(folder, letter)
		check(mutex.Unlock(context.Background()))
	}
}
