package data

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"dyno/internal/engine/scenario"
	"dyno/internal/fact"
)

// shown is a table as text.
func shown(t *Table) string {
	s := strings.Join(t.Columns(), "|")
	for row := range t.Rows() {
		s += "\n"
		for c := range t.Columns() {
			if c > 0 {
				s += "|"
			}
			s += string(t.Value(row, c))
		}
	}
	return s
}

func TestRead(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"a.csv", "email,token\na@x,1\nb@x,2\n", "email|token\na@x|1\nb@x|2"},
		{"a.CSV", "\ufeffemail, token \r\na@x, 1\r\n\r\nb@x,", "email|token\na@x| 1\nb@x|"},
		{"a.csv", "a,b\n\"x,y\",\"say \"\"hi\"\"\"\n\"1\n2\",ü\n", "a|b\nx,y|say \"hi\"\n1\n2|ü"},
		{"a.csv", "a\n1\n", "a\n1"},
		{"a.csv", "a,b\r\n\"1\r\n2\",\"x\r\r\n\r\n\"\r\n\"\"\"\r\n\",3\r\n", "a|b\n1\r\n2|x\r\r\n\r\n\n\"\r\n|3"},
		{"a.csv", "sep=,\r\na,b\r\n1,2\r\n", "a|b\n1|2"},
		{"a.csv", "\ufeffsep=,\na\n1\n", "a\n1"},
		{"a.jsonl", `{"a": "x\"\u00e9", "b": 1.50}` + "\r\n\n" + ` {"b":1e2,"a":null} `,
			"a|b\nx\"é|1.50\nnull|1e2"},
		{"a.ndjson", `{"o": {"k": [1, "x"]}, "": true}`, ""},
		{"a.jsonl", `{"o": {"k": [1, "x"]}, "t": true}`, "o|t\n{\"k\": [1, \"x\"]}|true"},
	} {
		got, err := Read(tc.name, strings.NewReader(tc.file), MaxBytes)
		if tc.want == "" {
			if err == nil {
				t.Errorf("%q: no fault", tc.file)
			}
			continue
		}
		if err != nil || shown(got) != tc.want {
			t.Errorf("%q:\n%v\n%v", tc.file, err, got)
		}
	}
}

// Every fault of a file is reported, with its place.
func TestFaults(t *testing.T) {
	for _, tc := range []struct {
		file string
		want []string
	}{
		{"", []string{"d.csv: is empty"}},
		{"a,b\n", []string{"d.csv: has no row below"}},
		{"a,b\n1\n1,2\n1,2,3\n", []string{"d.csv:2:1: the row has 1 value, and there are 2 columns (a, b)",
			"d.csv:4:5: the row has 3 values"}},
		{"a,a,,uuid,env,x{{y\n1,2,3,4,5,6\n", []string{"d.csv:1:3: column a is there twice",
			"d.csv:1:5: column 3 has no name", "d.csv:1:6: the column \"uuid\" has the name of a function",
			"d.csv:1:11: the column \"env\" has", "d.csv:1:15: column \"x{{y\" has braces"}},
		{"a,b\n1,\"x\n2,3\n4,5\n", []string{"d.csv:2:3: the quote never closes"}},
		{"a,b\n\n\n\"x\"\"\ny\",\"z", []string{"d.csv:5:4: the quote never closes"}},
		{"a,b\n1,x\"y\n1\n\"x\"y,2\n1,2\n", []string{"d.csv:2:4: a quote stands in a value",
			"d.csv:3:1: the row has 1 value", "d.csv:4:3: after a value in quotes comes no comma"}},
		{"sep=;\na;b\n1;2\n", []string{"d.csv:1:1: the columns are not separated by commas"}},
		{"sep=,\na\n1,2\n", []string{"d.csv:3:3: the row has 2 values"}},
		{"a;b\n1;2\n", []string{"d.csv:1:1: the columns are not separated by commas"}},
		{"\xff\xfea\x00,\x00", []string{"d.csv:1:1: is UTF-16"}},
		{"a,\xe9\nx,\xe9\n", []string{"d.csv:1:3: is not UTF-8", "d.csv:2:3: is not UTF-8"}},
		{"a\n" + strings.Repeat("1,2\n", 12), append(repeated("d.csv:%d:3: the row has 2 values", 2, 10),
			"d.csv: and 2 more")},
		{"json:", []string{"d.jsonl: is empty"}},
		{"json:\n [\n{\"a\": 1},\n{\"a\": 2}]\n", []string{"d.jsonl:2:2: begins a JSON list"}},
		{"json:1\n{\"a\" 1}\n{\"a\": 1\n{\"a\":1} x\n", []string{"d.jsonl:1:1: is no JSON object",
			"d.jsonl:2:6: is no JSON from here on", "d.jsonl:3:8: the line ends within the object",
			"d.jsonl:4:9: is no JSON from here on"}},
		{"json:{}\n", []string{"d.jsonl:1:1: the object has no key"}},
		{"json:{\"a\":1,\"b\":2}\n{\"a\":1}\n{\"a\":1,\"b\":2,\"c\":3}\n{\"a\":1,\"b\":2,\"a\":3}\n", []string{
			"d.jsonl:2:1: key \"b\" is missing", "d.jsonl:3:14: key \"c\" is not in the first line",
			"d.jsonl:4:14: key \"a\" is there twice"}},
		{"json:{\"a\":1,\"a\":2,\"now\":3,\"\":1}\n", []string{"d.jsonl:1:8: column a is there twice",
			"d.jsonl:1:14: the column \"now\" has the name of a function", "d.jsonl:1:22: column 4 has no name"}},
		{"json:{\"a\":\"\xe9\"}\n", []string{"d.jsonl:1:2: is not UTF-8"}},
	} {
		name := "d.csv"
		file, json := strings.CutPrefix(tc.file, "json:")
		if json {
			name = "d.jsonl"
		}
		checkFaults(t, name, file, MaxBytes, tc.want)
	}
	checkFaults(t, "d.csv", "a\n"+strings.Repeat("1234567\n", 1<<17), 1<<20,
		[]string{"d.csv: is larger than 1 MB"})
	checkFaults(t, "d.txt", "a\n1\n", MaxBytes, []string{"d.txt: ends neither in .csv nor in .jsonl"})
}

func checkFaults(t *testing.T, name, file string, limit int64, want []string) {
	t.Helper()
	_, err := Read(name, strings.NewReader(file), limit)
	got := strings.Split(fmt.Sprint(err), "\n")
	if err == nil || len(got) != len(want) {
		t.Errorf("%.60q: %q\nwant %q", file, got, want)
		return
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%.60q: %s\nwant %s", file, got[i], want[i])
		}
	}
}

// A file whose rows have no ends that are known, such as those of old Macs, is one row of very many
// columns. To compare the name of each with all others would take very long.
func TestManyColumns(t *testing.T) {
	const n = 1 << 18
	names := strings.Join(repeated("c%d", 0, n), ",")
	object := "{\"" + strings.ReplaceAll(names, ",", "\":1,\"") + "\":1}\n"
	for name, file := range map[string]string{"d.csv": names + "\n" + strings.Repeat("1,", n-1) + "1\n",
		"d.jsonl": object + object} {
		if table, err := Read(name, strings.NewReader(file), MaxBytes); err != nil || len(table.Columns()) != n {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func repeated(format string, from, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(format, from+i))
	}
	return all
}

// A deal is a run that is dealt out to workers: threads of clients of agents.
type deal struct{ shares []scenario.Share }

// newDeal cuts iterations and users at random, for the property must hold for every cut.
func newDeal(r *rand.Rand, iterations int64) (d deal) {
	agents, left, users := 1+r.IntN(4), iterations, int64(0)
	first := int64(0)
	for a := range agents {
		workers := 1 + r.IntN(3)
		for w := range workers {
			n := r.Int64N(left + 1)
			if a == agents-1 && w == workers-1 {
				n = left
			}
			mine := 1 + r.Int64N(9)
			d.shares = append(d.shares, scenario.Share{FirstUser: users, Users: mine,
				FirstIteration: first, Iterations: n})
			users, first, left = users+mine, first+n, left-n
		}
	}
	return d
}

// counts are how often each row is sent, with a warm-up before.
func (d deal) counts(t *testing.T, o Order, rows int) []int {
	all := make([]int, rows)
	for i, s := range d.shares {
		if s.Iterations == 0 {
			continue
		}
		if err := o.Check(s, rows); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(uint64(i), 0))
		numbering := scenario.NewNumbering(s)
		for k := range s.Iterations + 3 {
			u := scenario.User{Number: s.FirstUser + k%s.Users, Rand: r, Warmup: k < 3}
			place, _ := numbering.Next(u.Warmup)
			row, ok := o.Row(&u, place, rows)
			switch {
			case ok == (o == Once && u.Warmup):
				t.Fatalf("%v: warm-up %v has a row: %v", o, u.Warmup, ok)
			case !u.Warmup:
				all[row]++
			}
		}
	}
	return all
}

// However a run is dealt out, each row is sent as often as its order says.
func TestOrders(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		rows := 1 + r.IntN(50)
		for row, n := range newDeal(r, int64(rows)).counts(t, Once, rows) {
			if n != 1 {
				t.Fatalf("seed %d: row %d of %d is sent %d times", seed, row, rows, n)
			}
		}
		passes, rest := 1+r.IntN(5), r.IntN(rows)
		for row, n := range newDeal(r, int64(passes*rows+rest)).counts(t, InOrder, rows) {
			want := passes
			if row < rest {
				want++
			}
			if n != want {
				t.Fatalf("seed %d: row %d of %d is sent %d times, want %d", seed, row, rows, n, want)
			}
		}
		d := newDeal(r, 100)
		want := make([]int, rows)
		for _, s := range d.shares {
			for k := range s.Iterations {
				want[(s.FirstUser+(k+3)%s.Users)%int64(rows)]++
			}
		}
		for row, n := range d.counts(t, PerUser, rows) {
			if n != want[row] {
				t.Fatalf("seed %d: row %d of %d is sent %d times, want %d", seed, row, rows, n, want[row])
			}
		}
	}
}

// Random rows are uniform: chi-squared with 49 degrees of freedom, at 1 in 10⁶, and fixed seeds.
func TestRandomOrder(t *testing.T) {
	const rows, draws = 50, 20_000
	for seed := range uint64(10) {
		u, counts, x := scenario.User{Rand: rand.New(rand.NewPCG(seed, 0))}, [rows]float64{}, 0.0
		for range draws {
			row, _ := Random.Row(&u, 0, rows)
			counts[row]++
		}
		for _, n := range counts {
			x += (n - draws/rows) * (n - draws/rows) / (draws / rows)
		}
		if x > 110 {
			t.Errorf("seed %d: χ² = %.1f", seed, x)
		}
	}
}

// Once is refused without a number of requests, with more than there are rows, or with a warm-up.
func TestCheck(t *testing.T) {
	for want, s := range map[string]scenario.Share{"needs a number of requests [{requests 5 or less}]": {},
		"6 requests cannot have each row once: there are 5 rows []":                          {FirstIteration: 3, Iterations: 3},
		"a warm-up would need rows, and each is for a request of the window [{warmup none}]": {Iterations: 5, Warmup: true}} {
		if err := Once.Check(s, 5); err == nil || !strings.Contains(fmt.Sprint(err, fact.RemediesOf(err)), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if err := InOrder.Check(s, 5); err != nil {
			t.Error(err)
		}
	}
	if row, ok := Once.Row(&scenario.User{}, 5, 5); ok {
		t.Errorf("rows are used up, and there is row %d", row)
	}
	for i, name := range OrderNames() {
		if o, err := ParseOrder(name); err != nil || o != Order(i) || o.String() != name {
			t.Errorf("%s is %v, %v", name, o, err)
		}
	}
	if _, err := ParseOrder("shuffled"); err == nil {
		t.Error("shuffled is an order")
	}
}

// To look up a value allocates nothing.
func TestValueAllocatesNothing(t *testing.T) {
	table, err := Read("a.csv", strings.NewReader("a,b,c\n1,2,3\n4,5,6\n"), MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	if n := testing.AllocsPerRun(100, func() { sum += len(table.Value(1, 2)) }); n != 0 || sum != 101 {
		t.Errorf("%v allocations", n)
	}
}

// What is read has as many values as rows and columns, and is UTF-8; what is not read has a fault.
func fuzz(f *testing.F, name string, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		table, err := Read(name, strings.NewReader(file), 1<<20)
		if err != nil {
			return
		}
		if table.Rows() < 1 || table.Rows()*len(table.Columns()) != len(table.ends) {
			t.Fatalf("%q: %d rows of %d", file, table.Rows(), len(table.Columns()))
		}
		total := 0
		for row := range table.Rows() {
			for c := range table.Columns() {
				total += len(table.Value(row, c))
			}
		}
		if total != len(table.text) {
			t.Fatalf("%q: %d bytes of %d", file, total, len(table.text))
		}
	})
}

func FuzzCSV(f *testing.F) {
	fuzz(f, "f.csv", "a,b\n1,2\n", "\ufeffa\r\n\"x\"\"y\"\r\n", "a,b\n1,\"x\n", "a;b\n", "a,uuid\n1\n", "a\n\xff",
		"a,b\n\n\n\"x\"y,1\n", "\"", "a\n\"\n\"\"\n\",\"")
}

func FuzzJSONLines(f *testing.F) {
	fuzz(f, "f.jsonl", `{"a":1}`, `{"a":"x\n","b":{"c":[1]}}`+"\n"+`{"b":null,"a":2}`, "{\"a\":1\n", "[]", "{}",
		`{"a":1,"a":2}`, `{"\u0061":"\ud83d"}`)
}
