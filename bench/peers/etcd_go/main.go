// The mutex of etcd's own Go client (clientv3/concurrency), as a user would write it, for bench/driver.hpp.
//
//	etcd_go ADDRESS            answers each line of its input, MODE ARGUMENT..., with a number
//	etcd_go ADDRESS MODE ...   answers once, in JSON
//
// MODE          the number
// pair S        one thread: lock and unlock, the median in microseconds, measured for S seconds
// raw S         the same for two puts
// spread S      16 threads, each with a lock of its own: pairs for each second
// one S         16 threads, one lock: how often another thread than before had it, for each second
// processes FILE ME
//
//	this process is one of many with one lock: until FILE says that it is over (turns.go); how often it had it
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/clientv3"
)

func seconds(text string) time.Duration {
	number, err := strconv.ParseFloat(text, 64)
	check(err)
	return time.Duration(number * float64(time.Second))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func answer(client *clientv3.Client, words []string) (float64, string) {
	switch words[0] {
	case "pair":
		return pair(client, seconds(words[1])), "us"
	case "raw":
		return raw(client, seconds(words[1])), "us"
	case "spread":
		return spread(client, seconds(words[1])), "/s"
	case "one":
		return one(client, seconds(words[1])), "/s"
	case "processes":
		me, err := strconv.Atoi(words[2])
		check(err)
		return processes(client, openTurns(words[1]), int32(me)), "grants"
	}
	log.Fatal("there is no mode ", words[0])
	return 0, ""
}

func main() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Args[1]}, DialTimeout: time.Minute})
	check(err)
	defer client.Close()
	if len(os.Args) > 2 {
		value, unit := answer(client, os.Args[2:])
		line, err := json.Marshal(map[string]interface{}{"mode": os.Args[2], "value": value, "unit": unit})
		check(err)
		fmt.Println(string(line))
		return
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		value, _ := answer(client, strings.Fields(lines.Text()))
		fmt.Println(value)
	}
}
