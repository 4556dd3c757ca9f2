package fairness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dyno/internal/fact"
	"dyno/internal/say"
)

// A batch is up to so many exchanges, over which opened connections are counted. A few batches are
// enough where one of them counted hardly any. Otherwise there are many, because bursts of other
// programs pass.
const (
	batch       = 20
	fewBatches  = 3
	manyBatches = 12

	longForBatches = 5 * time.Second // after which a few are enough
)

// surely is the number of opened connections in an exchange from which it makes
// a difference: a proxy without upstream keep-alive has 1, one with it nearly 0.
const surely = 0.5

// A count is what the kernel counted during a batch.
type count struct{ opened, noise float64 } // for each exchange

// countOpens counts the connections that this machine opens while exchanges run on a
// connection that is open already. The kernel counts a connect when it begins,
// so that all of an exchange's are counted when its response is here. It counts
// those of every program; the least of several batches has the fewest of them,
// and as long a time without exchanges after each batch shows how many there are.
//
// Note: accepted connections (PassiveOpens) are not added. A connection between
// two programs of this machine would count twice, one from outside is noise.
func (a *asker) countOpens(ctx context.Context) (Opens, error) {
	if !a.here {
		return notKnown(fact.OpensUnknown{Why: fact.Elsewhere}), nil
	}
	if _, err := activeOpens(); err != nil {
		return notKnown(fact.OpensUnknown{Why: fact.Unreadable, Text: err.Error()}), nil
	}
	var s *session
	defer func() {
		if s != nil {
			s.close()
		}
	}()
	var counts []count
	for began := time.Now(); !isCounted(counts, time.Since(began)); {
		n, err := a.countBatch(ctx, &s)
		if err != nil {
			return Opens{}, fmt.Errorf("a request while connections are counted: %w", err)
		}
		counts = append(counts, n)
	}
	return judgeCounts(counts), nil
}

// isCounted reports whether there are enough batches: a few if one of them counted hardly any
// connections, or if a slow server took long for them, and otherwise many.
func isCounted(counts []count, took time.Duration) bool {
	if len(counts) < fewBatches {
		return false
	}
	least, _ := leastOpened(counts)
	return least < surely || took > longForBatches || len(counts) >= manyBatches
}

// leastOpened is the least of the batches, of which there are a few at least, and the most noise of
// the few with the least.
func leastOpened(counts []count) (least, noise float64) {
	sorted := slices.SortedFunc(slices.Values(counts), func(a, b count) int {
		return cmp.Compare(a.opened, b.opened)
	})
	for _, n := range sorted[:fewBatches] {
		noise = max(noise, n.noise)
	}
	return sorted[0].opened, noise
}

// notKnown are Opens that are not known, with the reason.
func notKnown(why fact.OpensUnknown) Opens {
	return Opens{Problem: say.Plain(why)}
}

func judgeCounts(counts []count) Opens {
	least, noise := leastOpened(counts)
	if least >= surely && noise > least/2 {
		return notKnown(fact.OpensUnknown{Why: fact.OthersOpen, Noise: noise, Counted: least})
	}
	return Opens{PerExchange: &least}
}

// countBatch makes exchanges, on *s while the server keeps it, and counts.
func (a *asker) countBatch(ctx context.Context, s **session) (count, error) {
	if *s == nil { // not to be counted, as far as the server lets us
		if err := a.reopen(ctx, s); err != nil {
			return count{}, err
		}
	}
	before, err := a.othersOpens()
	if err != nil {
		return count{}, err
	}
	began, done := time.Now(), 0
	for done == 0 || done < batch && time.Since(began) < maxBatch {
		if err := a.exchangeAgain(ctx, s); err != nil {
			return count{}, err
		}
		done++
	}
	took := time.Since(began)
	after, err := a.othersOpens()
	if err != nil {
		return count{}, err
	}
	rest := min(took, maxBatch)
	if err := sleepFor(ctx, rest); err != nil {
		return count{}, externalEnd(err)
	}
	later, err := a.othersOpens()
	noise := float64(later-after) * float64(took) / float64(rest)
	return count{float64(after-before) / float64(done), noise / float64(done)}, err
}

// othersOpens is how many connections this machine opened, those of a apart.
func (a *asker) othersOpens() (int64, error) {
	n, err := activeOpens()
	return n - a.Begun(), err
}

// exchangeAgain makes one exchange on *s, or on another if the server closed that one, or will with
// its challenge.
func (a *asker) exchangeAgain(ctx context.Context, s **session) error {
	used := *s != nil
	if !used {
		if err := a.reopen(ctx, s); err != nil {
			return err
		}
	}
	r, err := a.exchangeOn(ctx, *s, &a.q)
	onAnother := func() {
		if err = a.reopen(ctx, s); err == nil {
			r, err = a.exchangeOn(ctx, *s, &a.q)
		}
	}
	if used && (errors.Is(err, errClosed) || errors.Is(err, errLeaving)) {
		onAnother()
	}
	if err == nil && r.asks {
		onAnother()
	}
	if err != nil || r.closes || r.cut {
		if *s != nil {
			(*s).close()
		}
		*s = nil
	}
	return err
}

func (a *asker) reopen(ctx context.Context, s **session) (err error) {
	if *s != nil {
		(*s).close()
	}
	if *s, err = a.open(ctx); err != nil {
		*s = nil
	}
	return err
}
