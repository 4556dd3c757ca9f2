package luascript

import (
	"dyno/internal/engine/scenario"
	lua "github.com/yuin/gopher-lua"
)

// This file is dyno.user: a table of each virtual user, which stays for all its iterations. It is
// made when the script first asks for it, so that a script that does not pays nothing.

// A user is what a virtual user has of its own.
type user struct {
	message
	own *lua.LTable // dyno.user; nil: nobody asked for it
}

// stateOf is what a user has of its own.
func stateOf(u *scenario.User) *user {
	x, is := u.State.(*user)
	if !is {
		x = &user{}
		x.fill.Own = &x.request
		u.State = x
	}
	return x
}

// userBytes is about how much memory a table takes that has one value.
const userBytes = 200

// openUser has the table dyno know the name user.
func (t *machine) openUser(dyno *lua.LTable) {
	meta := t.NewTable()
	meta.RawSetString("__index", t.NewFunction(func(l *lua.LState) int {
		if l.Get(2) != lua.LString("user") {
			l.Push(lua.LNil)
			return 1
		}
		l.Push(t.userTable(l))
		return 1
	}))
	meta.RawSetString("__newindex", t.NewFunction(func(l *lua.LState) int {
		if l.Get(2) == lua.LString("user") {
			l.RaiseError("dyno.user is the table of the user who sends; set a name in it, as " +
				"dyno.user.token")
		}
		dyno.RawSet(l.Get(2), l.Get(3))
		return 0
	}))
	dyno.Metatable = meta
}

// userTable is the table of the user who sends. It has the user's number.
func (t *machine) userTable(l *lua.LState) *lua.LTable {
	if t.user == nil {
		l.RaiseError("dyno.user is the user who sends: use it in delay(), request() or response()")
	}
	x := stateOf(t.user)
	if x.own == nil {
		t.Grow(l, "dyno.user", userBytes)
		x.own = t.NewTable()
		x.own.RawSetString("number", lua.LNumber(t.user.Number))
	}
	return x.own
}
