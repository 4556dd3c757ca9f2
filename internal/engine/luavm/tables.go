package luavm

import (
	"math"
	"reflect"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// This file is Lua's library table, and what the interpreter does with tables without a limit: it
// keeps all integer keys from 1 on in a list, whose empty places cost memory and time.

// openTables opens the library.
func (t *Machine) openTables() {
	lib := t.NewTable()
	t.register(lib, functions{"concat": concat, "foreach": forEach, "foreachi": forEachIndex,
		"getn": tableLength, "insert": insert, "maxn": greatestKey, "remove": remove, "sort": sortTable})
	t.SetGlobal("table", lib)
}

// table is an argument that is a table.
func table(l *lua.LState, n int) *lua.LTable {
	v, is := l.Get(n).(*lua.LTable)
	if !is {
		wrong(l, n, "table")
	}
	return v
}

// fieldsOf are where the interpreter's tables have their list, and the names of the other keys.
var fieldsOf = func() (f struct{ list, keys int }) {
	of := reflect.TypeFor[lua.LTable]()
	list, _ := of.FieldByName("array")
	keys, _ := of.FieldByName("keys")
	f.list, f.keys = list.Index[0], keys.Index[0]
	return f
}()

// listOf is how long the list of a table is, and for how many values it has room.
func listOf(of *lua.LTable) (length, room int) {
	list := reflect.ValueOf(of).Elem().Field(fieldsOf.list)
	return list.Len(), list.Cap()
}

// border is the length of a table.
func (t *Machine) border(l *lua.LState, name string, of *lua.LTable) int {
	n := of.Len()
	if length, _ := listOf(of); length > n {
		t.spend(l, name, (length-n)/valuesPerInstruction)
	}
	return n
}

// checkKey is a key to which a value is assigned; its table is the first argument, or nil if it is
// new.
func (t *Machine) checkKey(l *lua.LState) int {
	of, _ := l.Get(1).(*lua.LTable)
	key := l.Get(2)
	t.GrowFor(l, of, key)
	l.Push(key)
	return 1
}

// GrowFor counts what a table needs for one more key.
func (t *Machine) GrowFor(l *lua.LState, of *lua.LTable, key lua.LValue) {
	n, is := key.(lua.LNumber)
	if !is || !(n >= plainKey && n < lua.LNumber(lua.MaxArrayIndex)) {
		return
	}
	length, room := 0, 0
	if of != nil {
		if length, room = listOf(of); int(n) <= room {
			t.spend(l, "a table", max(int(n)-length, 0)/valuesPerInstruction)
			return
		}
	}
	// the interpreter copies the list each time its room has grown by a quarter
	const copies = 2
	t.spend(l, "a table", (int(n)-length)/valuesPerInstruction)
	t.Grow(l, "a table", int(n)*valueBytes*copies)
}

func get(of *lua.LTable, i int) lua.LValue { return of.RawGet(lua.LNumber(i)) }

// set assigns without metamethods.
func (t *Machine) set(l *lua.LState, of *lua.LTable, i int, v lua.LValue) {
	if v != lua.LNil {
		t.GrowFor(l, of, lua.LNumber(i))
	}
	of.RawSet(lua.LNumber(i), v)
}

func concat(t *Machine, l *lua.LState) int {
	const name = "table.concat"
	of, separator := table(l, 1), optText(l, 2, "")
	first := optInteger(l, 3, 1)
	last := optInteger(l, 4, math.MinInt)
	if l.Get(4) == lua.LNil {
		last = t.border(l, name, of)
	}
	b := &builder{t: t, l: l, name: name}
	for i := first; i <= last; i++ {
		t.spend(l, name, 1)
		switch v := get(of, i).(type) {
		case lua.LString:
			b.add(string(v))
		case lua.LNumber:
			b.add(NumberText(float64(v)))
		default:
			l.RaiseError("invalid value (%s) at index %d in table for 'concat'", v.Type(), i)
		}
		if i < last {
			b.add(separator)
		}
	}
	return pushText(l, b.String())
}

func insert(t *Machine, l *lua.LState) int {
	const name = "table.insert"
	of := table(l, 1)
	at := t.border(l, name, of) + 1
	switch l.GetTop() {
	case 2:
	case 3:
		place := integer(l, 2)
		t.spend(l, name, max(at-place, 0)/valuesPerInstruction)
		for i := at; i > place; i-- {
			t.set(l, of, i, get(of, i-1))
		}
		at = place
	default:
		l.RaiseError("wrong number of arguments to 'insert'")
	}
	t.set(l, of, at, l.Get(l.GetTop()))
	return 0
}

func remove(t *Machine, l *lua.LState) int {
	const name = "table.remove"
	of := table(l, 1)
	n := t.border(l, name, of)
	at := optInteger(l, 2, n)
	if at < 1 || at > n {
		return 0
	}
	t.spend(l, name, (n-at)/valuesPerInstruction)
	if length, _ := listOf(of); length == n {
		l.Push(of.Remove(at))
		return 1
	}
	l.Push(get(of, at))
	for i := at; i < n; i++ {
		of.RawSet(lua.LNumber(i), get(of, i+1))
	}
	of.RawSet(lua.LNumber(n), lua.LNil)
	return 1
}

func tableLength(t *Machine, l *lua.LState) int {
	return pushNumber(l, float64(t.border(l, "table.getn", table(l, 1))))
}

func greatestKey(t *Machine, l *lua.LState) int {
	of, most := table(l, 1), 0.0
	t.spend(l, "table.maxn", sizeOf(of)/valuesPerInstruction)
	of.ForEach(func(key, _ lua.LValue) {
		if n, is := key.(lua.LNumber); is {
			most = max(most, float64(n))
		}
	})
	return pushNumber(l, most)
}

// sizeOf is how many keys a table has, and had.
func sizeOf(of *lua.LTable) int {
	length, _ := listOf(of)
	return length + reflect.ValueOf(of).Elem().Field(fieldsOf.keys).Len()
}

// forEach calls a function with each key and value, until it returns something.
func forEach(t *Machine, l *lua.LState) int {
	of, f := table(l, 1), l.CheckFunction(2)
	for key := lua.LValue(lua.LNil); ; {
		var value lua.LValue
		if key, value = t.following(l, of, key); key == lua.LNil {
			return 0
		}
		if called(l, f, key, value) != lua.LNil {
			return 1
		}
		l.Pop(1)
	}
}

func forEachIndex(t *Machine, l *lua.LState) int {
	of, f := table(l, 1), l.CheckFunction(2)
	for i, n := 1, t.border(l, "table.foreachi", of); i <= n; i++ {
		if called(l, f, lua.LNumber(i), get(of, i)) != lua.LNil {
			return 1
		}
		l.Pop(1)
	}
	return 0
}

// called is what a function returns, which is left on the stack.
func called(l *lua.LState, f *lua.LFunction, args ...lua.LValue) lua.LValue {
	l.Push(f)
	for _, a := range args {
		l.Push(a)
	}
	l.Call(len(args), 1)
	return l.Get(-1)
}

// slowKeys is from how many keys on it may take long to find the next, because many were removed.
const slowKeys = 1 << 10

// following is the key and value after a key.
func (t *Machine) following(l *lua.LState, of *lua.LTable, key lua.LValue) (next, v lua.LValue) {
	if sizeOf(of) < slowKeys {
		return of.Next(key)
	}
	const instruction = 20 * time.Nanosecond
	start := time.Now()
	next, v = of.Next(key)
	t.spend(l, "next", int(time.Since(start)/instruction))
	return next, v
}

// sortTable sorts as Lua does: values that are equal come out in the same order.
func sortTable(t *Machine, l *lua.LState) int {
	s := sorter{t: t, l: l, of: table(l, 1)}
	if l.Get(2) != lua.LNil {
		s.by = l.CheckFunction(2)
	}
	s.sort(1, t.border(l, "table.sort", s.of))
	return 0
}

// A sorter sorts by parts around the middle of three values.
type sorter struct {
	t  *Machine
	l  *lua.LState
	of *lua.LTable
	by *lua.LFunction
}

func (s *sorter) less(a, b lua.LValue) bool {
	s.t.spend(s.l, "table.sort", 1)
	if s.by == nil {
		return s.l.LessThan(a, b)
	}
	is := lua.LVAsBool(called(s.l, s.by, a, b))
	s.l.Pop(1)
	return is
}

// order exchanges two values if the second is less, and reports that it did.
func (s *sorter) order(i, j int) bool {
	a, b := get(s.of, i), get(s.of, j)
	if !s.less(b, a) {
		return false
	}
	s.swap(i, j)
	return true
}

func (s *sorter) swap(i, j int) {
	a, b := get(s.of, i), get(s.of, j)
	s.of.RawSet(lua.LNumber(i), b)
	s.of.RawSet(lua.LNumber(j), a)
}

func (s *sorter) sort(low, high int) {
	for low < high {
		s.order(low, high)
		if high-low == 1 {
			return
		}
		middle := (low + high) / 2
		if !s.order(low, middle) {
			s.order(middle, high)
		}
		if high-low == 2 {
			return
		}
		at := s.divide(low, high, middle)
		if at-low < high-at { // the smaller part first, so the depth is that of a logarithm
			s.sort(low, at-1)
			low = at + 1
		} else {
			s.sort(at+1, high)
			high = at - 1
		}
	}
}

// divide moves what is less than the middle value before what is not, and returns where it is.
func (s *sorter) divide(low, high, middle int) int {
	pivot := get(s.of, middle)
	s.swap(middle, high-1)
	i, j := low, high-1
	for {
		for i++; s.less(get(s.of, i), pivot); i++ {
			if i > high {
				s.l.RaiseError("invalid order function for sorting")
			}
		}
		for j--; s.less(pivot, get(s.of, j)); j-- {
			if j < low {
				s.l.RaiseError("invalid order function for sorting")
			}
		}
		if j < i {
			s.swap(high-1, i)
			return i
		}
		s.swap(i, j)
	}
}
