// Package pagetest looks at pages with a real browser: Debian's chromium, without a screen, driven
// by chromedp. A Browser is for all tests of a package and starts with the first page; a Tab is
// one test's. What a page complained of on its console, and what it tried to fetch, makes the test
// fail unless the test asks for it.
package pagetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	js "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A Browser is one process of chromium. The zero value starts with the first Open.
type Browser struct {
	mu     sync.Mutex
	ctx    context.Context
	stop   func()
	failed error
}

// patience is for whatever a page does: far more than it needs on a busy machine.
const patience = time.Minute

// find is where chromium is; "" if it is not installed.
func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// start starts the browser once. It can look up no name, so that it sends nothing but to this
// machine, whatever it would like to tell its maker.
func (b *Browser) start() (context.Context, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx != nil || b.failed != nil {
		return b.ctx, b.failed
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(find()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
		chromedp.WSURLReadTimeout(patience))
	allocator, closeAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	b.stop = func() { cancel(); closeAll() }
	b.ctx, b.failed = ctx, chromedp.Do(ctx)
	return b.ctx, b.failed
}

// Close ends the browser: call it when all tests of the package are over.
func (b *Browser) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stop != nil {
		b.stop()
	}
	b.ctx, b.stop = nil, nil
}

// A Tab is a page that is open.
type Tab struct {
	t   testing.TB
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	fetched    []string
}

// Tab opens an empty one for the test. Without chromium the test is skipped, and fails where CI is
// set. It also fails at its end if the page complained and nobody took the Complaints.
func (b *Browser) Tab(t testing.TB) *Tab {
	t.Helper()
	if find() == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("chromium is not installed; Debian's package is chromium (see e2e/install.sh)")
		}
		t.Skip("chromium is not installed; Debian's package is chromium (see e2e/install.sh)")
	}
	browser, err := b.start()
	if err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	tab := &Tab{t: t, ctx: ctx}
	// The first use of a context must have no deadline: it would end the tab.
	if err := chromedp.Listen(ctx, tab.listen); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	call(tab, log.Enable, cdp.Empty{})
	call(tab, network.Enable, network.EnableParams{})
	call(tab, js.Enable, cdp.Empty{})
	t.Cleanup(func() {
		for _, c := range tab.Complaints() {
			t.Errorf("the page complained: %s", c)
		}
		cancel()
	})
	return tab
}

// Open writes the page into a file and opens that, with the network off: what it fetches, other
// than itself, is a complaint. It returns when all figures are drawn.
func (b *Browser) Open(t testing.TB, html []byte) *Tab {
	t.Helper()
	tab := b.Tab(t)
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, html, 0o600); err != nil {
		t.Fatal(err)
	}
	call(tab, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: true}}})
	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	tab.Go(address)
	tab.Drawn()
	for _, u := range tab.Fetched() {
		if page, _, _ := strings.Cut(u, "#"); page != address && !strings.HasPrefix(u, "data:") &&
			!strings.HasPrefix(u, "blob:") {
			tab.complain("it fetched " + u)
		}
	}
	return tab
}

func (tab *Tab) listen(event any) {
	switch e := event.(type) {
	case *js.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		tab.complain("exception: " + text)
	case *js.EventConsoleAPICalled:
		if e.Type == js.ConsoleAPICalledTypeError || e.Type == js.ConsoleAPICalledTypeWarning {
			text := ""
			for _, a := range e.Args {
				text += " " + string(a.Value) + a.Description
			}
			tab.complain("console:" + text)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			tab.complain(fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		tab.mu.Lock()
		tab.fetched = append(tab.fetched, e.Request.URL)
		tab.mu.Unlock()
	}
}

func (tab *Tab) complain(text string) {
	tab.mu.Lock()
	tab.complaints = append(tab.complaints, text)
	tab.mu.Unlock()
}

// Complaints are what the page complained of since the last call: errors and warnings on its
// console, exceptions, what its policy refused.
func (tab *Tab) Complaints() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	all := tab.complaints
	tab.complaints = nil
	return all
}

// Fetched are the addresses of all that the tab has requested so far.
func (tab *Tab) Fetched() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.fetched)
}

// within is the tab for one step.
func (tab *Tab) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(tab.ctx, patience)
}

// check ends the test if a step of it went wrong.
func (tab *Tab) check(err error) {
	tab.t.Helper()
	if err != nil {
		tab.t.Fatalf("in the browser: %v; the page complained: %q", err, tab.Complaints())
	}
}

// run carries out steps.
func (tab *Tab) run(steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := tab.within()
	defer cancel()
	tab.check(chromedp.Do(ctx, steps...))
}

// call gives the browser a command of its protocol.
func call[P, R any](tab *Tab, command cdp.Command[P, R], params P) {
	tab.t.Helper()
	ctx, cancel := tab.within()
	defer cancel()
	_, err := chromedp.Call(ctx, command, params)
	tab.check(err)
}

// Go opens an address.
func (tab *Tab) Go(address string) {
	tab.t.Helper()
	tab.run(chromedp.Navigate(address))
}

// Eval is what JavaScript evaluates to, or its promise if it is one; of struct{} nothing is wanted.
func Eval[T any](tab *Tab, script string) T {
	tab.t.Helper()
	ctx, cancel := tab.within()
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	tab.check(err)
	return value
}

// Until waits until a JavaScript expression is true.
func (tab *Tab) Until(script string) {
	tab.t.Helper()
	tab.run(chromedp.Poll[chromedp.Void](script, chromedp.WithPollingInterval(20*time.Millisecond),
		chromedp.WithPollingTimeout(patience/2)))
}

// Drawn waits until every figure of the page is drawn.
func (tab *Tab) Drawn() {
	tab.t.Helper()
	tab.Until(`document.readyState === "complete" &&
		document.querySelector("main, .banner") !== null &&
		document.querySelector('figure[data-drawn="no"]') === null`)
}

// Arrives waits until a JavaScript expression is true on the page that another one leads to:
// what goes wrong with the one that is left is no fault.
func (tab *Tab) Arrives(script string) {
	tab.t.Helper()
	for deadline := time.Now().Add(patience / 2); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := tab.within()
		there, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script))
		cancel()
		if there && err == nil {
			return
		}
		if time.Now().After(deadline) {
			tab.t.Fatalf("in the browser: %s is never true: %v; the page complained: %q", script, err,
				tab.Complaints())
		}
	}
}

// Text is the text of the first element that the selector finds.
func (tab *Tab) Text(selector string) string {
	tab.t.Helper()
	return Eval[string](tab, fmt.Sprintf(`document.querySelector(%q)?.textContent ?? ""`, selector))
}

// Click clicks the first element that the selector finds.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	tab.run(chromedp.Click(chromedp.CSS(selector)))
}

// Tables shows the table of every figure, in the place of its plot, and opens what is folded.
func (tab *Tab) Tables() {
	tab.t.Helper()
	Eval[chromedp.Void](tab, `document.querySelectorAll("details").forEach((d) => { d.open = true; })`)
	Eval[chromedp.Void](tab, `location.hash = [...document.querySelectorAll("figure.view")]
		.map((f) => f.id + "=table").join("&")`)
	tab.Until(`[...document.querySelectorAll("figure.view")]
		.every((f) => f.querySelector("table, .empty")) &&
		[...document.querySelectorAll("details")].every((d) => d.children.length > 1)`)
}

// Numbers are the raw values of the elements that stand for a number of the JSON, by its path.
func (tab *Tab) Numbers() map[string]string {
	tab.t.Helper()
	return Eval[map[string]string](tab, `Object.fromEntries(
		[...document.querySelectorAll("[data-key]")].map((e) => [e.dataset.key, e.dataset.value ?? ""]))`)
}

// Heap is how many bytes the page's objects take once the garbage is collected, and how many
// elements its document has.
func (tab *Tab) Heap() (bytes float64, elements int) {
	tab.t.Helper()
	call(tab, heapprofiler.CollectGarbage, cdp.Empty{})
	ctx, cancel := tab.within()
	defer cancel()
	use, err := chromedp.Call(ctx, js.GetHeapUsage, cdp.Empty{})
	tab.check(err)
	return use.UsedSize, Eval[int](tab, `document.querySelectorAll("*").length`)
}

// Look makes the tab so many pixels wide, and light or dark.
func (tab *Tab) Look(width, height int64, dark bool) {
	tab.t.Helper()
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	tab.run(chromedp.EmulateViewport(width, height))
	call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	Eval[bool](tab, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(
		() => done(true))))`)
}

// Screenshot writes a picture of the whole page.
func (tab *Tab) Screenshot(file string) {
	tab.t.Helper()
	ctx, cancel := tab.within()
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	tab.check(err)
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		tab.t.Fatal(err)
	}
}

// Misplaced are texts of plots that lie over one another, or reach out of their figure or the
// window: what a reader would see as a blot.
func (tab *Tab) Misplaced() []string {
	tab.t.Helper()
	return Eval[[]string](tab, misplaced)
}

const misplaced = `(() => {
	const bad = [], wide = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > wide) bad.push("the page is wider than the window");
	for (const f of document.querySelectorAll("figure.view")) {
		const frame = f.getBoundingClientRect();
		for (const plot of f.querySelectorAll("[role=img] svg")) {
			const texts = [...plot.querySelectorAll("text")].filter((e) => e.textContent.trim() !== "")
				.map((e) => ({ text: e.textContent, box: e.getBoundingClientRect() }))
				.filter((t) => t.box.width > 0);
			for (const t of texts) {
				const cut = t.box.left < frame.left - 1 || t.box.right > frame.right + 1;
				if (cut) bad.push(f.id + ": cut: " + t.text);
			}
			texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => {
				const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
				const y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
				if (x > 1 && y > 3) bad.push(f.id + ": " + a.text + " over " + b.text);
			}));
		}
	}
	return bad;
})()`
