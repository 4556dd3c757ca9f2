package luascript

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"weak"
)

// Limits of a script. Each is far above what a script of a load needs.
const (
	// callInstructions is how many instructions of Lua's machine one call of request, response or
	// delay may take: some tenths of a second.
	callInstructions = 10_000_000
	// DefaultSetup is the same of the script itself and of setup, init and done, which may make a
	// million requests beforehand: some tens of seconds.
	DefaultSetup = 500_000_000
	// DefaultMemory is by how many bytes the memory of all of a run's scripts together may grow.
	DefaultMemory = 1 << 30

	longestString = 256 << 20 // bytes of what one call of the string library makes
	longestLoaded = 1 << 20   // bytes of Lua that a script may have compiled
	callDepth     = 1000      // calls inside each other
	registryFirst = 1 << 10   // values on a machine's stack, at first
	registryMost  = 1 << 18   // and at most
)

var (
	errInstructions = errors.New("the call took more instructions than a script may: does it loop " +
		"for ever?")
	errMemory = errors.New("the scripts of the run have more memory than they may")
)

// A budget counts the instructions of one call. Lua's machine asks its context before each
// instruction whether it is done, so the context is the place to count them: the count is exact,
// and needs neither a clock nor another goroutine.
type budget struct {
	context.Context // of which Deadline and Value are used
	left            int64
	memory          *memoryGuard
	over            chan struct{} // closed
}

func newBudget(m *memoryGuard) *budget {
	b := &budget{Context: context.Background(), memory: m, over: make(chan struct{})}
	close(b.over)
	return b
}

// Done counts an instruction. It returns nil while the machine may go on.
func (b *budget) Done() <-chan struct{} {
	if b.left--; b.left < 0 || b.memory.exceeded.Load() {
		return b.over
	}
	return nil
}

// Err is why the machine may not go on.
func (b *budget) Err() error {
	switch {
	case b.memory.exceeded.Load():
		return errMemory
	case b.left < 0:
		return errInstructions
	}
	return nil
}

// A memoryGuard notices when the program's memory in use has grown by more than it may. It looks
// after each garbage collection: a script that takes more and more memory causes collections, and
// between them a worker pays one atomic load per instruction.
type memoryGuard struct {
	most     uint64 // bytes
	exceeded atomic.Bool
}

// newMemoryGuard returns a guard of so many bytes above those in use now.
func newMemoryGuard(most uint64) *memoryGuard {
	g := &memoryGuard{most: liveMemory() + most}
	g.arm()
	return g
}

// A sentinel is garbage: the next collection finds it, and calls its finalizer.
type sentinel struct{ guard weak.Pointer[memoryGuard] }

// arm has the guard look after the next collection, as long as somebody uses the guard.
func (g *memoryGuard) arm() {
	runtime.SetFinalizer(&sentinel{weak.Make(g)}, func(s *sentinel) {
		guard := s.guard.Value()
		if guard == nil {
			return
		}
		if liveMemory() > guard.most {
			guard.exceeded.Store(true)
			return
		}
		guard.arm()
	})
}

// liveMemory is how many bytes the last garbage collection found in use.
func liveMemory() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}
