package luavm

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// This file has Lua's library math, and LuaJIT's library bit, which scripts of wrk have.

// openMaths opens both.
func (t *Machine) openMaths() {
	lib := t.NewTable()
	for name, f := range map[string]func(float64) float64{"abs": math.Abs, "acos": math.Acos,
		"asin": math.Asin, "atan": math.Atan, "ceil": math.Ceil, "cos": math.Cos, "cosh": math.Cosh,
		"exp": math.Exp, "floor": math.Floor, "log10": math.Log10, "sin": math.Sin, "sinh": math.Sinh,
		"sqrt": math.Sqrt, "tan": math.Tan, "tanh": math.Tanh,
		"deg": func(x float64) float64 { return x * (180 / math.Pi) },
		"rad": func(x float64) float64 { return x * (math.Pi / 180) }} {
		lib.RawSetString(name, t.NewFunction(func(l *lua.LState) int {
			return pushNumber(l, f(number(l, 1)))
		}))
	}
	for name, f := range map[string]func(x, y float64) float64{"atan2": math.Atan2, "fmod": math.Mod,
		"mod": math.Mod, "pow": math.Pow} {
		lib.RawSetString(name, t.NewFunction(func(l *lua.LState) int {
			return pushNumber(l, f(number(l, 1), number(l, 2)))
		}))
	}
	t.register(lib, functions{"frexp": frexp, "ldexp": ldexp, "log": logarithm, "max": greatest,
		"min": least, "modf": modf, "random": random, "randomseed": seed})
	lib.RawSetString("pi", lua.LNumber(math.Pi))
	lib.RawSetString("huge", lua.LNumber(math.Inf(1)))
	t.SetGlobal("math", lib)
	t.openBits()
}

func frexp(_ *Machine, l *lua.LState) int {
	fraction, exponent := math.Frexp(number(l, 1))
	return pushNumber(l, fraction) + pushNumber(l, float64(exponent))
}

func ldexp(_ *Machine, l *lua.LState) int {
	const most = 1 << 20
	return pushNumber(l, math.Ldexp(number(l, 1), min(max(integer(l, 2), -most), most)))
}

func logarithm(_ *Machine, l *lua.LState) int {
	x := number(l, 1)
	if l.Get(2) == lua.LNil {
		return pushNumber(l, math.Log(x))
	}
	return pushNumber(l, math.Log2(x)/math.Log2(number(l, 2)))
}

func greatest(_ *Machine, l *lua.LState) int {
	return extreme(l, func(a, b float64) bool { return a > b })
}

func least(_ *Machine, l *lua.LState) int {
	return extreme(l, func(a, b float64) bool { return a < b })
}

// extreme is the argument that is before all others.
func extreme(l *lua.LState, before func(a, b float64) bool) int {
	found := number(l, 1)
	for i := 2; i <= l.GetTop(); i++ {
		if v := number(l, i); before(v, found) {
			found = v
		}
	}
	return pushNumber(l, found)
}

func modf(_ *Machine, l *lua.LState) int {
	v := number(l, 1)
	whole, fraction := math.Trunc(v), math.Copysign(0, v)
	if !math.IsInf(v, 0) {
		fraction = math.Copysign(v-whole, v)
	}
	return pushNumber(l, whole) + pushNumber(l, fraction)
}

// random draws from the machine's own numbers: those of package math/rand are the whole program's,
// with a lock once somebody seeds them.
func random(t *Machine, l *lua.LState) int {
	low, high := 1.0, 0.0
	switch l.GetTop() {
	case 0:
		return pushNumber(l, t.rand.Float64())
	case 1:
		high = math.Trunc(number(l, 1))
	default:
		low, high = math.Trunc(number(l, 1)), math.Trunc(number(l, 2))
	}
	if !(low <= high && high-low < 1<<53) {
		l.ArgError(l.GetTop(), "the interval is empty")
	}
	return pushNumber(l, low+float64(t.rand.Uint64N(uint64(high-low)+1)))
}

func seed(t *Machine, l *lua.LState) int {
	t.rand = rand.New(rand.NewPCG(math.Float64bits(number(l, 1)), 0))
	return 0
}

// openBits opens the library bit: operations on 32 bits, whose results have a sign.
func (t *Machine) openBits() {
	lib := t.NewTable()
	all := func(f func(a, b uint32) uint32) lua.LGFunction {
		return func(l *lua.LState) int {
			v := bitsOf(l, 1)
			for i := 2; i <= l.GetTop(); i++ {
				v = f(v, bitsOf(l, i))
			}
			return pushBits(l, v)
		}
	}
	one := func(f func(uint32) uint32) lua.LGFunction {
		return func(l *lua.LState) int { return pushBits(l, f(bitsOf(l, 1))) }
	}
	shift := func(f func(v uint32, n int) uint32) lua.LGFunction {
		return func(l *lua.LState) int { return pushBits(l, f(bitsOf(l, 1), int(bitsOf(l, 2)&31))) }
	}
	t.SetFuncs(lib, map[string]lua.LGFunction{
		"band":    all(func(a, b uint32) uint32 { return a & b }),
		"bor":     all(func(a, b uint32) uint32 { return a | b }),
		"bxor":    all(func(a, b uint32) uint32 { return a ^ b }),
		"bnot":    one(func(v uint32) uint32 { return ^v }),
		"bswap":   one(bits.ReverseBytes32),
		"tobit":   one(func(v uint32) uint32 { return v }),
		"lshift":  shift(func(v uint32, n int) uint32 { return v << n }),
		"rshift":  shift(func(v uint32, n int) uint32 { return v >> n }),
		"arshift": shift(func(v uint32, n int) uint32 { return uint32(int32(v) >> n) }),
		"rol":     shift(bits.RotateLeft32),
		"ror":     shift(func(v uint32, n int) uint32 { return bits.RotateLeft32(v, -n) }),
		"tohex":   toHex,
	})
	t.SetGlobal("bit", lib)
}

// bitsOf are the low 32 bits of a number, which is rounded.
func bitsOf(l *lua.LState, n int) uint32 {
	const all = 1 << 32
	v := math.Mod(math.RoundToEven(number(l, n)), all)
	if !(v > -all && v < all) {
		return 0
	}
	return uint32(int64(v))
}

func pushBits(l *lua.LState, v uint32) int { return pushNumber(l, float64(int32(v))) }

// toHex is bit.tohex: so many digits, in capitals if the number is negative.
func toHex(l *lua.LState) int {
	v, n := bitsOf(l, 1), 8
	if l.Get(2) != lua.LNil {
		n = int(int32(bitsOf(l, 2)))
	}
	width := min(max(n, -n), 254)
	s := strconv.FormatUint(uint64(v), 16)
	s = strings.Repeat("0", max(width-len(s), 0)) + s
	if s = s[len(s)-width:]; n < 0 {
		s = strings.ToUpper(s)
	}
	return pushText(l, s)
}
