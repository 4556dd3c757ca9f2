package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// chiSquared is how far counts of equally likely outcomes are from each other.
func chiSquared(counts map[string]int, outcomes int) (x float64) {
	all := 0
	for _, n := range counts {
		all += n
	}
	mean := float64(all) / float64(outcomes)
	for _, n := range counts {
		x += (float64(n) - mean) * (float64(n) - mean) / mean
	}
	return x + float64(outcomes-len(counts))*mean // those that never came
}

// Random integers and rows are uniform, by each of several seeds, which are fixed, and by all of them
// together, also where each user has rows of its own: chi-squared with 19 degrees of freedom is above
// 64 once in 10⁶ times. A user has the same row in all its requests, and each sends as many.
func TestRandomIsUniform(t *testing.T) {
	var file strings.Builder
	file.WriteString("row\n")
	for i := range 20 {
		fmt.Fprintln(&file, i)
	}
	inFolder(t, map[string]string{"rows.csv": file.String()})
	rec := record(t, func(r *http.Request, _ []byte) string { return r.URL.Path })
	run := func(args string) map[string]int {
		t.Helper()
		words := append(strings.Fields(args), "-n", "1000", "-c", "1", "--drain", "1m", "--data", "rows.csv")
		if code, said := runHereAs(t, rec.URL+"/{{row}}/{{int -9 10}}/{{hex 1}}", words...); code != exitOK {
			t.Fatalf("%s: code %d %s", args, code, said)
		}
		return rec.take()
	}
	part := func(of map[string]int, i int) map[string]int {
		counts := map[string]int{}
		for path, n := range of {
			counts[strings.Split(path, "/")[i]] += n
		}
		return counts
	}
	uniform := func(what any, got map[string]int) {
		t.Helper()
		for i, outcomes := range map[int]int{1: 20, 2: 20, 3: 16} {
			if x := chiSquared(part(got, i), outcomes); x > 64 {
				t.Errorf("seed %v, value %d: chi-squared is %.1f: %v", what, i, x, part(got, i))
			}
		}
	}
	all := map[string]int{}
	for seed := 1; seed <= 5; seed++ {
		got := run(fmt.Sprint("--data-order random --users 3 --seed ", seed))
		uniform(seed, got)
		for path, n := range got {
			all[path] += n
		}
	}
	uniform("1 to 5", all)
	all = map[string]int{}
	for seed := 1; seed <= 4; seed++ {
		got := run(fmt.Sprint("--data-order per-user --users 8 --seed ", seed))
		rows := part(got, 1)
		for i := range 8 {
			if n := rows[fmt.Sprint(i)]; n != 125 || len(rows) != 8 {
				t.Errorf("seed %d: user %d sent %d of 1000 requests of 8 users: %v", seed, i, n, rows)
			}
		}
		for path, n := range got {
			all[path] += n
		}
	}
	for i, outcomes := range map[int]int{2: 20, 3: 16} {
		if x := chiSquared(part(all, i), outcomes); x > 64 {
			t.Errorf("per user, value %d: chi-squared is %.1f: %v", i, x, part(all, i))
		}
	}
}
