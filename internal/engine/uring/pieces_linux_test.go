package uring

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
)

// provided are queues that have room for so many pieces of 16 bytes, and of them
// the kernel has some.
func provided(t *testing.T, room, given int) *Queues {
	t.Helper()
	q := open(t)
	if err := q.ProvidePieces(room, 16); err != nil {
		t.Fatal(err)
	}
	for range given {
		q.AddPiece()
	}
	return q
}

// choose has b receive into whatever piece.
func choose(q *Queues, b int, userData uint64) {
	q.PushEntry(Receive, int32(b), userData).SelectPiece(16)
}

// TestPieces has as many that wait as there is no memory for, and one that
// receives.
func TestPieces(t *testing.T) {
	q := provided(t, 4, 1)
	var peers [8]struct{ a, b int }
	for i := range peers {
		peers[i].a, peers[i].b = pair(t)
		choose(q, peers[i].b, uint64(i))
	}
	if c := completedAtMost(t, q); len(c) > 0 {
		t.Fatalf("of nothing: %v", c)
	}
	for round := range 3 * 4 { // the queue goes round
		i := round % len(peers)
		text := fmt.Sprintf("round %d", round)
		syscall.Write(peers[i].a, []byte(text))
		c := completed(t, q, 1)[0]
		if got := string(q.PieceMemory(c.Piece())[:max(c.Res, 0)]); got != text || c.UserData != uint64(i) {
			t.Fatalf("%+v with %q, and not %q", c, got, text)
		}
		q.ReturnPiece(c.Piece())
		choose(q, peers[i].b, uint64(i))
	}
}

// completedAtMost is what completes at once.
func completedAtMost(t *testing.T, q *Queues) (all []Completion) {
	t.Helper()
	if err := q.Submit(true); err != nil {
		t.Fatal(err)
	}
	q.LoadCompletions()
	for c, ok := q.NextCompletion(); ok; c, ok = q.NextCompletion() {
		all = append(all, c)
	}
	return all
}

// TestTooFewPieces has more to receive than pieces. Who gets none fails, and
// there are none but those that there is room for.
func TestTooFewPieces(t *testing.T) {
	q := provided(t, 4, 2)
	var waiting []int
	for range 5 {
		a, b := pair(t)
		syscall.Write(a, []byte("x"))
		waiting = append(waiting, b)
	}
	for _, want := range []int{2, 3, 4, 4} {
		for i, b := range waiting {
			choose(q, b, uint64(i))
		}
		var full, refused []int
		for _, c := range completed(t, q, len(waiting)) {
			switch {
			case c.Res == 1 && c.Piece() != None && q.PieceMemory(c.Piece())[0] == 'x':
				full = append(full, c.Piece())
				q.ReturnPiece(c.Piece())
			case c.Res == -int32(syscall.ENOBUFS) && c.Piece() == None:
				refused = append(refused, waiting[c.UserData])
			default:
				t.Errorf("%+v", c)
			}
		}
		slices.Sort(full)
		if distinct := len(slices.Compact(full)); len(full) != want || distinct != want {
			t.Fatalf("received into %v, not %d pieces", full, want)
		}
		for range full {
			a, b := pair(t)
			syscall.Write(a, []byte("x"))
			refused = append(refused, b)
		}
		waiting = refused
		q.AddPiece()
	}
}

// TestChooseSaysHowMuch has more to receive than was asked for.
func TestChooseSaysHowMuch(t *testing.T) {
	q := provided(t, 1, 1)
	a, b := pair(t)
	syscall.Write(a, []byte("first and rest"))
	for _, want := range []string{"first", " and ", "rest"} {
		q.PushEntry(Receive, int32(b), 0).SelectPiece(5)
		c := completed(t, q, 1)[0]
		if c.Piece() == None || string(q.PieceMemory(c.Piece())[:c.Res]) != want {
			t.Fatalf("%+v, not %q", c, want)
		}
		q.ReturnPiece(c.Piece())
	}
}

// TestMultishot has receives that complete with each message, and for the last time when no piece is
// left, when they are canceled, and at the end.
func TestMultishot(t *testing.T) {
	const receiving, canceling = 1, 2
	q := provided(t, 4, 1)
	if !q.Deferred() {
		t.Skip("this kernel is older than multishot receives")
	}
	a, b := pair(t)
	receive := func() { q.PushEntry(Receive, int32(b), receiving).SelectPieces() }
	next := func(want string, res int32, more bool) Completion {
		t.Helper()
		c := completed(t, q, 1)[0]
		if c.UserData != receiving || c.Res != res || c.More() != more {
			t.Fatalf("%s: got %+v, want the result %d and more %v", want, c, res, more)
		}
		return c
	}
	receive()
	for range 3 {
		completedAtMost(t, q)
		syscall.Write(a, []byte("some"))
		q.ReturnPiece(next("data", 4, true).Piece())
	}
	syscall.Write(a, []byte("one"))
	lent := next("the only piece", 3, true)
	syscall.Write(a, []byte("two"))
	next("no piece", -int32(syscall.ENOBUFS), false)
	q.ReturnPiece(lent.Piece())
	receive()
	q.ReturnPiece(next("what is left", 3, true).Piece())
	q.PushEntry(Cancel, -1, canceling).SetCanceled(receiving)
	got := map[uint64]int32{}
	for _, c := range completed(t, q, 2) {
		if got[c.UserData] = c.Res; c.More() {
			t.Errorf("canceled: %+v", c)
		}
	}
	if got[receiving] != -int32(syscall.ECANCELED) || got[canceling] != 0 || len(got) != 2 {
		t.Errorf("canceled: %v", got)
	}
	receive()
	completedAtMost(t, q)
	syscall.Shutdown(a, syscall.SHUT_WR)
	next("the end", 0, false)
}

// TestMultishotEnds asks this kernel whether a reset behind data ends a multishot receive, and tries
// it with a unix socket, too.
func TestMultishotEnds(t *testing.T) {
	if q := open(t); !q.Deferred() {
		t.Skip("this kernel is older than multishot receives")
	}
	if !MultishotEnds() {
		t.Skip("this kernel does not end a multishot receive behind data")
	}
	q := provided(t, 2, 2)
	a, b := pair(t)
	q.PushEntry(Receive, int32(b), 0).SelectPieces()
	completedAtMost(t, q)
	syscall.Write(a, []byte("x"))
	syscall.Shutdown(a, syscall.SHUT_WR)
	if all := completed(t, q, 2); !all[0].More() || all[1].More() || all[1].Res != 0 {
		t.Errorf("data and the end: %+v", all)
	}
}

// TestPiecesAreFreed makes queues with much memory again and again, also such that
// the kernel refuses.
func TestPiecesAreFreed(t *testing.T) {
	const times, n, size = 64, 1 << 10, 16 << 10
	before := mapped(t)
	for i := range times {
		t.Run("", func(t *testing.T) {
			q := open(t)
			if i%2 == 0 {
				if err := q.ProvidePieces(n, size); err != nil {
					t.Fatal(err)
				}
			} else if err := q.ProvidePieces(n-1, size); !errors.Is(err, ErrRefused) {
				t.Errorf("providing %d pieces: %v", n-1, err)
			}
		})
	}
	if grown := mapped(t) - before; grown > times/4*n*size {
		t.Errorf("%d bytes more are mapped, after %d times %d", grown, times, n*size)
	}
}

// mapped is how many bytes of addresses this process has.
func mapped(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	var pages int
	if _, scan := fmt.Sscan(string(b), &pages); err != nil || scan != nil {
		t.Fatalf("%v, %v", err, scan)
	}
	return pages * os.Getpagesize()
}

// TestNoPiece is of the end of a connection, for which none is needed.
func TestNoPiece(t *testing.T) {
	q := provided(t, 1, 1)
	a, b := pair(t)
	choose(q, b, 1)
	syscall.Shutdown(a, syscall.SHUT_WR)
	c := completed(t, q, 1)[0]
	if c.Res != 0 {
		t.Errorf("%+v", c)
	}
	if c.Piece() != None { // as some kernels do
		q.ReturnPiece(c.Piece())
	}
	x, y := pair(t)
	choose(q, y, 2)
	syscall.Write(x, []byte("still"))
	if c := completed(t, q, 1)[0]; c.Res != 5 || string(q.PieceMemory(c.Piece())[:5]) != "still" {
		t.Errorf("%+v", c)
	}
}
