// Package pagetest looks at pages with a real browser: chromium without a screen, driven by
// chromedp. A Browser is for all tests of a package and starts with the first page; a Tab is
// one test's. What a page complained of on its console, and what it tried to fetch, makes the test
// fail unless the test asks for it.
//
//	har.go        what a tab requested, as a HAR file
//	pagetest.go   Browser and Tab
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

// stepTimeout is for anything that a page does, with much to spare on a busy machine.
const stepTimeout = 10 * time.Minute

// headlessShell is chromium without windows, of Debian's package chromium-headless-shell. It takes
// a third less CPU time than chromium --headless, which has all parts of its windows. Debian's
// command of that name is a script, which a kill would end alone, so this is the program itself.
const headlessShell = "/usr/lib/chromium/chromium-headless-shell"

// noChromium is said where there is none.
const noChromium = "chromium is not installed; Debian's package is chromium-headless-shell " +
	"(see e2e/install.sh)"

// findChromium is the path of chromium; "" if it is not installed.
func findChromium() string {
	for _, name := range []string{headlessShell, "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// startBrowser starts the browser once. It cannot resolve names, so it connects only to this
// machine.
func (b *Browser) startBrowser() (context.Context, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx != nil || b.failed != nil {
		return b.ctx, b.failed
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(findChromium()), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
		chromedp.WSURLReadTimeout(stepTimeout))
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
	requests   []*network.EventRequestWillBeSent
	rawHeaders map[network.RequestID]network.Headers
}

// OpenTab opens an empty tab for the test. Without chromium the test is skipped, or fails if CI is
// set. At its end the test fails if the page complained and nobody read the Complaints.
func (b *Browser) OpenTab(t testing.TB) *Tab {
	t.Helper()
	if findChromium() == "" {
		if os.Getenv("CI") != "" {
			t.Fatal(noChromium)
		}
		t.Skip(noChromium)
	}
	browser, err := b.startBrowser()
	if err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	tab := &Tab{t: t, ctx: ctx}
	// The first use of a context must have no deadline: it would end the tab.
	if err := chromedp.Listen(ctx, tab.recordEvent); err != nil {
		t.Fatalf("opening a tab: %v", err)
	}
	callBrowser(tab, log.Enable, cdp.Empty{})
	callBrowser(tab, network.Enable, network.EnableParams{})
	callBrowser(tab, js.Enable, cdp.Empty{})
	t.Cleanup(func() {
		for _, c := range tab.Complaints() {
			t.Errorf("the page complained: %s", c)
		}
		cancel()
	})
	return tab
}

// OpenPage writes the page to a file and opens it, with the network off. Any request other than for
// the page itself is a complaint. It returns when all figures are drawn.
func (b *Browser) OpenPage(t testing.TB, html []byte) *Tab {
	t.Helper()
	tab := b.OpenTab(t)
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, html, 0o600); err != nil {
		t.Fatal(err)
	}
	callBrowser(tab, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{Offline: true}}})
	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	tab.Navigate(address)
	tab.AwaitFigures()
	for _, u := range tab.FetchedURLs() {
		if page, _, _ := strings.Cut(u, "#"); page != address && !strings.HasPrefix(u, "data:") &&
			!strings.HasPrefix(u, "blob:") {
			tab.complain("it fetched " + u)
		}
	}
	return tab
}

func (tab *Tab) recordEvent(event any) {
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
		tab.recordRequest(e)
	case *network.EventRequestWillBeSentExtraInfo:
		tab.recordHeaders(e)
	}
}

func (tab *Tab) complain(text string) {
	tab.mu.Lock()
	tab.complaints = append(tab.complaints, text)
	tab.mu.Unlock()
}

// Complaints are the page's complaints since the last call: errors and warnings on its console,
// exceptions, and what its policy refused.
func (tab *Tab) Complaints() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	all := tab.complaints
	tab.complaints = nil
	return all
}

// FetchedURLs are the addresses of all that the tab has requested so far.
func (tab *Tab) FetchedURLs() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.fetched)
}

// stepContext is the tab's context for one step.
func (tab *Tab) stepContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(tab.ctx, stepTimeout)
}

// checkStep ends the test if a step failed.
func (tab *Tab) checkStep(err error) {
	tab.t.Helper()
	if err != nil {
		tab.t.Fatalf("in the browser: %v; the page complained: %q", err, tab.Complaints())
	}
}

// runSteps carries out steps.
func (tab *Tab) runSteps(steps ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	ctx, cancel := tab.stepContext()
	defer cancel()
	tab.checkStep(chromedp.Do(ctx, steps...))
}

// callBrowser calls a command of the browser's protocol.
func callBrowser[P, R any](tab *Tab, command cdp.Command[P, R], params P) {
	tab.t.Helper()
	ctx, cancel := tab.stepContext()
	defer cancel()
	_, err := chromedp.Call(ctx, command, params)
	tab.checkStep(err)
}

// Navigate opens an address.
func (tab *Tab) Navigate(address string) {
	tab.t.Helper()
	tab.runSteps(chromedp.Navigate(address))
}

// Evaluate returns the value of a JavaScript expression, awaited if it is a promise. With struct{}
// the value is ignored.
func Evaluate[T any](tab *Tab, script string) T {
	tab.t.Helper()
	ctx, cancel := tab.stepContext()
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	tab.checkStep(err)
	return value
}

// WaitUntil waits until a JavaScript expression is true.
func (tab *Tab) WaitUntil(script string) {
	tab.t.Helper()
	tab.runSteps(chromedp.Poll[chromedp.Void](script,
		chromedp.WithPollingInterval(50*time.Millisecond),
		chromedp.WithPollingTimeout(stepTimeout/2)))
}

// AwaitFigures waits until every figure of the page that is not folded away is drawn.
func (tab *Tab) AwaitFigures() {
	tab.t.Helper()
	tab.WaitUntil(`document.readyState === "complete" &&
		document.querySelector("main, .banner") !== null &&
		[...document.querySelectorAll('figure[data-drawn="no"]')].every((f) => !f.checkVisibility())`)
}

// OpenSections opens the folded sections of the page, and waits until their figures are drawn.
func (tab *Tab) OpenSections() {
	tab.t.Helper()
	Evaluate[chromedp.Void](tab,
		`document.querySelectorAll("details.section").forEach((d) => { d.open = true; })`)
	tab.AwaitFigures()
}

// AwaitNavigation waits until a JavaScript expression is true on the page that the tab is
// navigating to. Errors of the page that it leaves are ignored.
func (tab *Tab) AwaitNavigation(script string) {
	tab.t.Helper()
	pause := 20 * time.Millisecond // longer and longer: an experiment takes its minute
	for deadline := time.Now().Add(stepTimeout / 2); ; time.Sleep(pause) {
		pause = min(pause*5/4, 200*time.Millisecond)
		ctx, cancel := tab.stepContext()
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

// ElementText is the text of the first element that the selector finds.
func (tab *Tab) ElementText(selector string) string {
	tab.t.Helper()
	script := fmt.Sprintf(`document.querySelector(%q)?.textContent ?? ""`, selector)
	return Evaluate[string](tab, script)
}

// ClickElement clicks the first element that the selector finds.
func (tab *Tab) ClickElement(selector string) {
	tab.t.Helper()
	tab.runSteps(chromedp.Click(chromedp.CSS(selector)))
}

// ShowTables shows the table of every figure in place of its plot, and opens what is folded.
func (tab *Tab) ShowTables() {
	tab.t.Helper()
	Evaluate[chromedp.Void](tab,
		`document.querySelectorAll("details").forEach((d) => { d.open = true; })`)
	Evaluate[chromedp.Void](tab, `location.hash = [...document.querySelectorAll("figure.view")]
		.map((f) => f.id + "=table").join("&")`)
	tab.WaitUntil(`[...document.querySelectorAll("figure.view")]
		.every((f) => f.querySelector("table, .empty")) &&
		[...document.querySelectorAll("details")].every((d) => d.children.length > 1)`)
}

// NumbersByPath are the raw values of the elements that show a number of the JSON, by its path.
func (tab *Tab) NumbersByPath() map[string]string {
	tab.t.Helper()
	return Evaluate[map[string]string](tab, `Object.fromEntries(
		[...document.querySelectorAll("[data-key]")].map((e) => [e.dataset.key, e.dataset.value ?? ""]))`)
}

// MeasureHeap is how many bytes the page's objects take after a garbage collection, and how many
// elements its document has.
func (tab *Tab) MeasureHeap() (bytes float64, elements int) {
	tab.t.Helper()
	callBrowser(tab, heapprofiler.CollectGarbage, cdp.Empty{})
	ctx, cancel := tab.stepContext()
	defer cancel()
	use, err := chromedp.Call(ctx, js.GetHeapUsage, cdp.Empty{})
	tab.checkStep(err)
	return use.UsedSize, Evaluate[int](tab, `document.querySelectorAll("*").length`)
}

// SetViewport sets the width of the tab, in pixels, and light or dark.
func (tab *Tab) SetViewport(width, height int64, dark bool) {
	tab.t.Helper()
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	tab.runSteps(chromedp.EmulateViewport(width, height))
	callBrowser(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	Evaluate[bool](tab, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(
		() => done(true))))`)
}

// SetPaper shows the page as it is printed, so many pixels wide.
func (tab *Tab) SetPaper(width, height int64) {
	tab.t.Helper()
	tab.SetViewport(width, height, false)
	callBrowser(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
}

// Screenshot writes a picture of the whole page.
func (tab *Tab) Screenshot(file string) {
	tab.t.Helper()
	ctx, cancel := tab.stepContext()
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	tab.checkStep(err)
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		tab.t.Fatal(err)
	}
}

// ScreenshotViewport writes a picture of what the window shows.
func (tab *Tab) ScreenshotViewport(file string) {
	tab.t.Helper()
	ctx, cancel := tab.stepContext()
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	tab.checkStep(err)
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		tab.t.Fatal(err)
	}
}

// Misplaced are texts of plots that overlap or extend beyond their figure or the window, numbers
// that extend beyond their tile, and texts that extend beyond their cell.
func (tab *Tab) Misplaced() []string {
	tab.t.Helper()
	return Evaluate[[]string](tab, misplaced)
}

const misplaced = `(() => {
	const bad = [], wide = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > wide) bad.push("the page is wider than the window");
	for (const e of document.querySelectorAll(".tile dd, .figure dd")) {
		if (e.scrollWidth > e.clientWidth + 1) bad.push("wider than its tile: " + e.textContent);
	}
	for (const e of document.querySelectorAll("td, th")) {
		if (e.scrollWidth > e.clientWidth + 1) bad.push("wider than its cell: " + e.textContent);
	}
	for (const f of document.querySelectorAll("figure.view")) {
		const frame = f.getBoundingClientRect();
		for (const plot of f.querySelectorAll(".plot svg")) {
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
