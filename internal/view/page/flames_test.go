package page

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"dyno/internal/observe/profile"
	"dyno/internal/view/page/pagetest"
)

//go:noinline
func hashing() (sum [32]byte) {
	block := make([]byte, 64<<10)
	for range 4 {
		sum = sha256.Sum256(block)
	}
	return sum
}

//go:noinline
func sorting() int {
	all := rand.New(rand.NewPCG(1, 2)).Perm(20_000)
	slices.Sort(all)
	return all[0]
}

// profiled is a CPU profile of a server under load, fetched as the laboratory fetches it. The
// server hashes for each request, and sorts too if it is told to.
func profiled(t *testing.T, sorts bool) *profile.Profile {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/work", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%x", hashing())
		if sorts {
			fmt.Fprint(w, sorting())
		}
	})
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	server := httptest.NewServer(mux)
	defer server.Close()
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for ctx.Err() == nil {
				if answer, err := server.Client().Get(server.URL + "/work"); err == nil {
					io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
				}
			}
		})
	}
	defer load.Wait()
	defer stop()
	for span := time.Second; ; span *= 2 { // of a busy machine it takes longer
		p, err := profile.Fetch(t.Context(), server.URL+"/debug/pprof", profile.CPU, span)
		if err != nil {
			t.Fatal(err)
		}
		if seen(p, "page.hashing") && (!sorts || seen(p, "page.sorting")) {
			return p
		}
		if span > profileTime {
			t.Fatalf("%d stacks were seen in %v", len(p.Sample), span)
		}
	}
}

// profileTime is the longest time for a profile that has enough in it.
const profileTime = 20 * time.Second

// seen reports whether a profile has a function, and enough stacks besides.
func seen(p *profile.Profile, function string) bool {
	s, ok := profile.Share(p, function)
	return ok && s.Cumulative.Share > 0 && len(p.Sample) >= 10
}

// A box is one of the flame graph's, as it says of itself.
type box struct{ Name, Said string }

// The flame graphs of a real server's profiles have its functions, with the shares that the
// profiles give them; the way into one of them, and out again, is there for mouse and keyboard;
// and the files are those that were taken.
func TestFlamesOfARealServer(t *testing.T) {
	dir := experimentAt(t, 1, 1, []string{"c100"})
	base, other := profiled(t, false), profiled(t, true)
	file := func(i int) string { return filepath.Join(dir, "profiles", fmt.Sprintf("%d-c100-cpu.pb.gz", i)) }
	for i, p := range []*profile.Profile{base, other} {
		if err := profile.Save(file(i), p); err != nil {
			t.Fatal(err)
		}
	}
	rewrite(t, filepath.Join(dir, "experiment.json"), func(record map[string]any) {
		for i, p := range []*profile.Profile{base, other} {
			record["profiles"].([]any)[i].(map[string]any)["top"] = profile.Top(p, 15)
		}
	})
	html, _ := experimentHTML(t, dir)
	tab := chromium.OpenPage(t, html)
	tab.OpenSections()
	if drawn := boxesOf(tab); drawnNamed(drawn, "dyno/internal/view/page.sorting") || !drawnNamed(drawn, "dyno/internal/view/page.hashing") {
		t.Error("the baseline hashes and does not sort; its graph says otherwise")
	}
	pagetest.Evaluate[chromedp.Void](tab, `location.hash = "flames.of=1"`)
	tab.WaitUntil(`document.querySelector('#flames g[data-box="dyno/internal/view/page.sorting"]') !== null`)
	agreesWith(t, boxesOf(tab), other)
	for _, complaint := range tab.Misplaced() {
		if strings.HasPrefix(complaint, "flames") {
			t.Errorf("misplaced: %s", complaint)
		}
	}

	all, _ := profile.Share(other, "sorting")
	pagetest.Evaluate[chromedp.Void](tab, `{ const e = document.querySelector("input[type=search]");
		e.value = "Sorting"; e.dispatchEvent(new Event("input")) }`)
	tab.WaitUntil(`document.querySelector("#flames .caption").textContent !== "" &&
		document.querySelector("#flames").textContent.includes("“sorting” is in")`)
	text := tab.ElementText("#flames")
	_, text, _ = strings.Cut(text, "“sorting” is in ")
	if share := percentOf(text); math.Abs(share-100*all.Cumulative.Share) > 0.5 {
		t.Errorf("found is %v %%, and the profile has %v %%", share, 100*all.Cumulative.Share)
	}
	if !strings.Contains(text, "and in 0") {
		t.Errorf("of the baseline the page says %.60s", text)
	}
	pagetest.Evaluate[chromedp.Void](tab, `location.hash = "flames.of=1&flames.by=grown"`)
	tab.WaitUntil(`[...document.querySelectorAll('#flames g[data-box="dyno/internal/view/page.sorting"] text')]
		.some((e) => e.textContent.startsWith("▲"))`)

	whole := len(boxesOf(tab))
	press := func(key string) {
		pagetest.Evaluate[chromedp.Void](tab, fmt.Sprintf(`document.activeElement.dispatchEvent(
			new KeyboardEvent("keydown", {key: %q, bubbles: true}))`, key))
	}
	pagetest.Evaluate[chromedp.Void](tab, `{ document.querySelector("#flames svg.flame").focus();
		document.querySelector('#flames g[data-box="dyno/internal/view/page.sorting"]').dispatchEvent(new Event("pointerenter")) }`)
	press("f")
	tab.WaitUntil(`document.querySelector("#flames").textContent.includes("only dyno/internal/view/page.sorting, wherever it is called")`)
	only := boxesOf(tab)
	if only[0].Name != "dyno/internal/view/page.sorting" || drawnNamed(only, "dyno/internal/view/page.hashing") {
		t.Errorf("of sorting alone there is drawn %+v", only)
	}
	press("Escape")
	tab.WaitUntil(fmt.Sprintf(`document.querySelectorAll("#flames g[data-box]").length === %d`, whole))
	downloads(t, tab, file(1))
}

func boxesOf(tab *pagetest.Tab) []box {
	return pagetest.Evaluate[[]box](tab, `[...document.querySelectorAll("#flames g[data-box]")]
		.map((g) => ({Name: g.dataset.box, Said: g.querySelector("title").textContent}))`)
}

func drawnNamed(all []box, name string) bool {
	return slices.ContainsFunc(all, func(b box) bool { return b.Name == name })
}

// percentOf is the first percentage of a text.
func percentOf(text string) float64 {
	number, _, _ := strings.Cut(text, " %")
	if i := strings.LastIndex(number, " "); i >= 0 {
		number = number[i+1:]
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// agreesWith fails unless each box is a function on a path of the profile, with its share, and
// each of those that take much is a box.
func agreesWith(t *testing.T, drawn []box, p *profile.Profile) {
	t.Helper()
	tree := profile.Tree(p)
	shares := map[string][]float64{}
	var walk func(n *profile.Node)
	walk = func(n *profile.Node) {
		share := 100 * float64(n.Total) / float64(tree.Total)
		shares[n.Name] = append(shares[n.Name], share)
		if share >= 1 && !drawnNamed(drawn, n.Name) {
			t.Errorf("%s takes %.2f %% and is not drawn", n.Name, share)
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(tree)
	for _, b := range drawn {
		shown := percentOf(strings.TrimPrefix(b.Said, b.Name+":"))
		near := func(share float64) bool { return math.Abs(share-shown) <= 0.006*share+0.006 }
		if !slices.ContainsFunc(shares[b.Name], near) {
			t.Errorf("drawn is %s, whose shares are %v", b.Said, shares[b.Name])
		}
	}
	t.Logf("%d boxes of %d functions", len(drawn), len(shares))
}

// downloads fails unless the files that the page hands out are the profile.
func downloads(t *testing.T, tab *pagetest.Tab, file string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pagetest.Evaluate[chromedp.Void](tab, `{ const make = URL.createObjectURL; window.made = [];
		URL.createObjectURL = (blob) => { window.made.push(blob); return make(blob) };
		for (const what of [".pb.gz", "speedscope"])
			[...document.querySelectorAll(".files button")].find((e) => e.textContent === what).click() }`)
	tab.WaitUntil(`window.made.length === 2`)
	got := pagetest.Evaluate[string](tab, `window.made[0].arrayBuffer()
		.then((b) => btoa(String.fromCharCode(...new Uint8Array(b))))`)
	if got != base64.StdEncoding.EncodeToString(want) {
		t.Errorf("the .pb.gz has %d bytes in base64, of %d", len(got), len(want))
	}
	if !pagetest.Evaluate[bool](tab, `window.made[1].text().then((s) => JSON.parse(s).shared.frames
		.some((f) => f.name === "dyno/internal/view/page.sorting"))`) {
		t.Error("the file for speedscope has no sorting")
	}
}
