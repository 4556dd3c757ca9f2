package luavm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// LongestString is how many bytes a call of a library may make.
const LongestString = 256 << 20

// MostScratch is how many bytes a machine keeps for its next text.
const MostScratch = 1 << 20

// Limits of a machine. Each is far above what a script of a load needs.
const (
	longestLoaded = 1 << 20 // bytes of Lua that a script may have compiled
	callDepth     = 1000    // calls inside each other
	threadDepth   = 30      // coroutines inside each other
	registryFirst = 1 << 10 // values on a machine's stack, at first
	registryMost  = 1 << 18 // and at most
	mostResults   = 100_000 // of unpack and string.byte
	plainKey      = 1 << 10 // up to which a table grows by little

	bytesPerInstruction  = 64
	valuesPerInstruction = 16 // of a table, which are only moved or looked at
	valueBytes           = 16 // of a value in a table

	// looksEvery is after how many instructions the clock and the memory are looked at, and
	// looksAfter after how many bytes of strings and tables.
	looksEvery = 1 << 16
	looksAfter = 8 << 20
)

var (
	errInstructions = errors.New("the call took more instructions than a script may: does it loop " +
		"for ever?")
	errTime   = errors.New("the call took longer than a script may")
	errMemory = errors.New("the scripts of the run have more memory than they may")
	errEnded  = errors.New("the run was ended")
)

// A budget counts the instructions of one call. Lua's machine asks its context before each
// instruction whether it is done, so the context is the place to count them: the count is exact,
// and needs neither a clock nor another goroutine.
type budget struct {
	context.Context // of which Deadline and Value are used
	left            int64
	nextLook        int64 // of left, at which the other limits are looked at
	made            int   // bytes since then
	lasts           time.Duration
	until           time.Time // zero: the call is young
	why             error     // the machine may not go on; nil: it may
	memory          *Guard
	ended           <-chan struct{} // the run is over
	over            chan struct{}   // closed
}

func newBudget(m *Guard, ended <-chan struct{}) *budget {
	b := &budget{Context: context.Background(), memory: m, ended: ended, over: make(chan struct{})}
	close(b.over)
	return b
}

// Begin begins a call of so many instructions, which may last so long.
func (t *Machine) Begin(instructions int64, lasts time.Duration) {
	t.nested = 0
	t.budget.begin(instructions, lasts)
}

// Left is how many instructions of the call are left.
func (t *Machine) Left() int64 { return t.budget.left }

// begin begins a call of so many instructions, which may last so long.
func (b *budget) begin(instructions int64, lasts time.Duration) {
	b.left, b.nextLook, b.made = instructions, max(instructions-looksEvery, 0), 0
	b.lasts, b.until, b.why = lasts, time.Time{}, nil
}

// Done counts an instruction. It returns nil while the machine may go on.
func (b *budget) Done() <-chan struct{} {
	if b.left--; b.left < b.nextLook && b.look() != nil {
		return b.over
	}
	return nil
}

// Err is why the machine may not go on.
func (b *budget) Err() error { return b.why }

// look looks at all limits. What is exceeded once stays so until the next call begins.
func (b *budget) look() error {
	if b.why != nil {
		return b.why
	}
	b.nextLook, b.made = max(b.left-looksEvery, 0), 0
	now := time.Now()
	if b.until.IsZero() {
		b.until = now.Add(b.lasts)
	}
	switch {
	case b.hasEnded():
		b.why = errEnded
	case b.left < 0:
		b.why = errInstructions
	case now.After(b.until):
		b.why = fmt.Errorf("%w, %v", errTime, b.lasts)
	default:
		b.why = b.memory.look(0)
	}
	if b.why != nil {
		b.nextLook = math.MaxInt64 // each further instruction fails, whoever caught this error
	}
	return b.why
}

// hasEnded reports whether the run is over.
func (b *budget) hasEnded() bool {
	select {
	case <-b.ended:
		return true
	default:
		return false
	}
}

// spend counts work of a function of the libraries, before it is done.
func (t *Machine) spend(l *lua.LState, name string, instructions int) {
	b := t.budget
	if b.left -= int64(instructions); b.left < b.nextLook && b.look() != nil {
		l.RaiseError("%s: %v", name, b.why)
	}
}

// MakeString counts the bytes of what a function makes, before it makes them.
func (t *Machine) MakeString(l *lua.LState, name string, bytes int) {
	if bytes > LongestString || bytes < 0 {
		l.RaiseError("%s: a string of more than %d MiB would be made", name, LongestString>>20)
	}
	t.Grow(l, name, bytes)
}

// Grow is make of what need not be a string.
func (t *Machine) Grow(l *lua.LState, name string, bytes int) {
	b := t.budget
	t.spend(l, name, bytes/bytesPerInstruction)
	if b.made += bytes; b.made > looksAfter {
		if err := b.memory.look(uint64(bytes)); err != nil {
			l.RaiseError("%s: %v", name, err)
		}
		b.made = 0
	}
}

// A Guard notices when the program's memory in use has grown by more than it may.
type Guard struct {
	most     uint64 // bytes of the whole program
	allowed  uint64 // bytes of the scripts
	looking  sync.Mutex
	exceeded bool
}

// NewGuard returns a guard of so many bytes above those in use now.
func NewGuard(most uint64) *Guard {
	return &Guard{most: readBytes(liveBytes) + most, allowed: most}
}

// Metrics of the Go runtime.
const (
	liveBytes = "/gc/heap/live:bytes"                // that the last garbage collection found
	heapBytes = "/memory/classes/heap/objects:bytes" // that objects take, garbage included
)

func readBytes(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}

// look returns an error if so many bytes more are more than there may be. It has garbage collected
// rather than be wrong.
func (g *Guard) look(more uint64) error {
	g.looking.Lock()
	defer g.looking.Unlock()
	if g.exceeded {
		return g.error()
	}
	if readBytes(heapBytes)+more <= g.most {
		return nil
	}
	runtime.GC()
	live := readBytes(liveBytes)
	g.exceeded = live > g.most
	if live+more > g.most {
		return g.error()
	}
	return nil
}

func (g *Guard) error() error { return fmt.Errorf("%w, %d MiB", errMemory, g.allowed>>20) }
