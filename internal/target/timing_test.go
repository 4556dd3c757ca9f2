package target

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

type entry struct {
	arrival, start, service int64
	path                    string
}

// logged reads a log of requests.
func logged(t *testing.T, log string) (entries []entry) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(log)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		var ns [3]int64
		for i := range ns {
			if ns[i], err = strconv.ParseInt(row[i], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		entries = append(entries, entry{ns[0], ns[1], ns[2], row[3]})
	}
	return entries
}

func TestLog(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		var log bytes.Buffer
		s, stop := start(t, Config{Addr: "127.0.0.1:0", Log: &log, Portable: on.portable, Ring: on.ring})
		before := time.Now().UnixNano()
		var want []string
		for range 3 {
			c := dial(t, s)
			for i := range 100 {
				path := fmt.Sprintf("/%d?a=\"b\",c", i)
				fmt.Fprintf(c, "GET %s HTTP/1.1\r\n\r\n", path)
				want = append(want, path)
			}
			fmt.Fprint(c, "GET /.dyno/served HTTP/1.1\r\nConnection: close\r\n\r\n")
			readAll(t, c)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, e := range logged(t, log.String()) {
			paths = append(paths, e.path)
			if e.arrival < before || e.start != e.arrival || e.service != 0 {
				t.Errorf("%+v, begun after %d", e, before)
			}
			before = e.arrival
		}
		if !slices.Equal(paths, want) {
			t.Errorf("paths %q", paths)
		}
	})
}

// TestService checks by its log that the server kept to the queue's rules.
func TestService(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		const workers, service = 3, 5 * time.Millisecond
		var log bytes.Buffer
		s, stop := start(t, Config{Addr: "127.0.0.1:0", Log: &log, Portable: on.portable, Ring: on.ring,
			Workers: workers, Service: "constant:" + service.String(), Header: []string{date},
			Body: 12})
		var group sync.WaitGroup
		for i := range 10 {
			c := dial(t, s)
			group.Go(func() {
				fmt.Fprint(c, get+get+getLast)
				if got, _ := io.ReadAll(c); string(got) != keep+keep+last {
					t.Errorf("connection %d: %q", i, got)
				}
			})
		}
		group.Wait()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		entries := logged(t, log.String())
		if len(entries) != 30 {
			t.Fatalf("%d lines", len(entries))
		}
		slices.SortStableFunc(entries, func(a, b entry) int { return int(a.start - b.start) })
		for i, e := range entries {
			if e.service != int64(service) || e.start < e.arrival {
				t.Errorf("%+v", e)
			}
			if i >= workers && e.start < entries[i-workers].start+int64(service) {
				t.Errorf("request %d begins while %d are served", i, workers)
			}
		}
	})
}

// TestStalls asks all the time. What is asked in a stall must be answered after.
func TestStalls(t *testing.T) {
	everywhere(t, func(t *testing.T, on implementation) {
		before, during := 0, 0
		for try := 0; try < 5 && before == 0 && during < 2; try++ {
			if try > 0 { // this test had no CPU until the stall
				t.Logf("try %d: no answer before the stall", try)
			}
			before, during = askInAStall(t, on)
		}
		// One may have been on its way through the server when the stall began.
		if before == 0 || during > 1 {
			t.Errorf("%d answers before the stall, %d in it", before, during)
		}
	})
}

// askInAStall counts the answers before a stall, and in it.
func askInAStall(t *testing.T, on implementation) (before, during int) {
	t.Helper()
	config := fixed()
	on.use(&config)
	config.Stall = "100ms/200ms"
	c := dial(t, serve(t, config))
	answer := make([]byte, len(keep))
	ask := func() (asked, told time.Time) {
		asked = time.Now()
		fmt.Fprint(c, get)
		if _, err := io.ReadFull(c, answer); err != nil {
			t.Fatal(err)
		}
		return asked, time.Now()
	}
	// The first request arrived between these, so the stall lasts at least from
	// begin to end.
	asked, told := ask()
	begin, end := told.Add(100*time.Millisecond), asked.Add(200*time.Millisecond)
	for told.Before(end) {
		asked, told = ask()
		switch {
		case told.Before(begin):
			before++
		case asked.After(begin) && told.Before(end):
			during++
		}
	}
	return before, during
}
