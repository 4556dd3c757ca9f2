package stats

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// R: p.adjust(p, "holm"); p.adjust(p, "BH")
func TestAdjusted(t *testing.T) {
	p := []float64{0.01, 0.04, 0.03, 0.005, 0.5, 0.04, 0.0001, 0.9}
	holm := []float64{0.06, 0.16, 0.15, 0.035, 1, 0.16, 0.0008, 1}
	bh := []float64{0.0266666666666667, 0.0533333333333333, 0.0533333333333333, 0.02,
		0.571428571428571, 0.0533333333333333, 0.0008, 0.9}
	for i, v := range Holm(p) {
		near(t, fmt.Sprint("Holm ", p[i]), v, holm[i])
	}
	for i, v := range BenjaminiHochberg(p) {
		near(t, fmt.Sprint("Benjamini-Hochberg ", p[i]), v, bh[i])
	}
	if p[0] != 0.01 || len(Holm(nil)) != 0 || len(BenjaminiHochberg(nil)) != 0 {
		t.Error("an argument was changed, or none gave some")
	}
}

// R, for the last three: library(multcompView); a <- aov(f, data); m <- TukeyHSD(a)[[g]];
// multcompLetters(vec2mat(setNames(m[,4] < .05, rownames(m)))[o,o]) with o the groups by
// descending mean. The first two are the examples of multcompLetters' manual.
func TestTieGroups(t *testing.T) {
	type pair [2]int
	for _, c := range []struct {
		name      string
		n         int
		separable []pair
		want      string
	}{
		{"manual, dif3", 3, []pair{{1, 2}}, "ab a b"},
		{"manual, dif4", 4, []pair{{0, 1}, {0, 2}, {1, 3}}, "a b bc ac"},
		{"weight~feed, chickwts", 6, []pair{{0, 3}, {1, 3}, {0, 4}, {1, 4}, {0, 5}, {1, 5},
			{2, 5}, {3, 5}}, "a a ab b bc c"},
		{"count~spray, InsectSprays", 6, []pair{{0, 3}, {1, 3}, {2, 3}, {0, 4}, {1, 4},
			{2, 4}, {0, 5}, {1, 5}, {2, 5}}, "a a a b b b"},
		{"weight~group, PlantGrowth", 3, []pair{{0, 2}}, "a ab b"},
		{"one", 1, nil, "a"},
		{"none", 0, nil, ""},
	} {
		separable := map[pair]bool{}
		for _, p := range c.separable {
			separable[p] = true
		}
		got := TieGroups(c.n, func(i, j int) bool { return separable[pair{i, j}] })
		if s := strings.Join(got, " "); sorted2(s) != sorted2(c.want) {
			t.Errorf("%s: got %q, want %q", c.name, s, c.want)
		}
	}
}

// sorted2 names the letters in the order in which they appear, since R numbers groups in the
// order in which it found them.
func sorted2(s string) string {
	names := map[rune]rune{' ': ' '}
	return strings.Map(func(r rune) rune {
		if _, known := names[r]; !known {
			names[r] = 'a' + rune(len(names)-1)
		}
		return names[r]
	}, s)
}

// Two share a letter if and only if they are not separable, whatever is separable.
func TestTieGroupsProperty(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	for i := range 500 {
		n := 1 + i%14
		separable := make([][]bool, n)
		for a := range separable {
			separable[a] = make([]bool, n)
			for b := range a {
				s := random.IntN(5) < i%5
				separable[a][b], separable[b][a] = s, s
			}
		}
		checkLetters(t, separable)
	}
	// The most letters: each of 14 is separable from one other only, which makes 2⁷ groups.
	pairs := make([][]bool, 14)
	for a := range pairs {
		pairs[a] = make([]bool, 14)
		pairs[a][a^1] = true
	}
	checkLetters(t, pairs)
}

func checkLetters(t *testing.T, separable [][]bool) {
	t.Helper()
	letters := TieGroups(len(separable), func(i, j int) bool { return separable[i][j] })
	if !strings.HasPrefix(letters[0], "a") {
		t.Fatalf("the first has %q", letters[0])
	}
	for a := range separable {
		for b := range a {
			if strings.ContainsAny(letters[a], letters[b]) == separable[a][b] {
				t.Fatalf("%v: %d has %q, %d has %q", separable, a, letters[a], b, letters[b])
			}
		}
	}
}
