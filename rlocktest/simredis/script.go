package simredis

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// One interpreter serves all servers of the process: a script runs to its end under mu.
var interpreter struct {
	mu     sync.Mutex
	l      *lua.LState
	bodies map[string]*lua.LFunction
	running
}

// running is the script that runs.
type running struct {
	s     *Server
	keys  []string
	full  bool // no memory was left when it began
	wrote bool
}

func init() {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	for name, open := range map[string]lua.LGFunction{
		lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString, lua.MathLibName: lua.OpenMath,
	} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	// Lua takes a number for a string; gopher-lua's gsub does not.
	library := l.GetGlobal("string").(*lua.LTable)
	gsub := library.RawGetString("gsub")
	library.RawSetString("gsub", l.NewFunction(func(l *lua.LState) int {
		if n, ok := l.Get(3).(lua.LNumber); ok {
			l.Replace(3, lua.LString(n.String()))
		}
		n := l.GetTop()
		l.Insert(gsub, 1)
		l.Call(n, 2)
		return 2
	}))
	t := l.NewTable()
	t.RawSetString("call", l.NewFunction(func(l *lua.LState) int { return call(l, true) }))
	t.RawSetString("pcall", l.NewFunction(func(l *lua.LState) int { return call(l, false) }))
	t.RawSetString("status_reply", l.NewFunction(func(l *lua.LState) int { return tagged(l, "ok") }))
	t.RawSetString("error_reply", l.NewFunction(func(l *lua.LState) int { return tagged(l, "err") }))
	l.SetGlobal("redis", t)
	l.SetGlobal("error", l.NewFunction(raise))
	tonumber := l.GetGlobal("tonumber")
	l.SetGlobal("tonumber", l.NewFunction(func(l *lua.LState) int {
		if text, ok := l.Get(1).(lua.LString); ok {
			if base := l.OptInt(2, 10); base == 10 {
				l.Push(toNumber(string(text)))
			} else {
				l.Push(toInteger(string(text), base))
			}
			return 1
		}
		n := l.GetTop()
		l.Insert(tonumber, 1)
		l.Call(n, 1)
		return 1
	}))
	guard := l.NewTable()
	guard.RawSetString("__newindex", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Attempt to modify a readonly table")
		return 0
	}))
	guard.RawSetString("__index", l.NewFunction(func(l *lua.LState) int {
		l.RaiseError("Script attempted to access nonexistent global variable '%s'", l.ToString(2))
		return 0
	}))
	l.SetMetatable(l.G.Global, guard)
	interpreter.l = l
	interpreter.bodies = map[string]*lua.LFunction{}
}

// raise is error, which notes the line of a table that has none.
func raise(l *lua.LState) int {
	v := l.Get(1)
	if t, ok := v.(*lua.LTable); ok {
		if t.RawGetString("line") == lua.LNil {
			t.RawSetString("line", lua.LString(where(l)))
		}
		l.Error(t, 0)
	}
	l.Error(v, l.OptInt(2, 1))
	return 0
}

// toNumber reads a number as C does, which gopher-lua does not for all.
func toNumber(text string) lua.LValue {
	text = strings.TrimSpace(text)
	if f, err := strconv.ParseFloat(text, 64); (err == nil || errors.Is(err, strconv.ErrRange)) && !strings.Contains(text, "_") {
		return lua.LNumber(f)
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil && strings.HasPrefix(strings.ToLower(text), "0x") {
		return lua.LNumber(n)
	}
	return lua.LNil
}

// toInteger reads a number of another base as C's strtoul does.
func toInteger(text string, base int) lua.LValue {
	digits, negative := strings.CutPrefix(strings.TrimSpace(text), "-")
	if base == 16 {
		digits = strings.TrimPrefix(strings.ToLower(digits), "0x")
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return lua.LNil
	}
	if negative {
		n = -n
	}
	return lua.LNumber(n)
}

func tagged(l *lua.LState, tag string) int {
	t := l.NewTable()
	t.RawSetString(tag, lua.LString(l.CheckString(1)))
	l.Push(t)
	return 1
}

// call is redis.call and redis.pcall.
func call(l *lua.LState, raises bool) int {
	args := make([]string, l.GetTop())
	var reply any
	for i := range args {
		switch v := l.Get(i + 1).(type) {
		case lua.LString:
			args[i] = string(v)
		case lua.LNumber:
			args[i] = interpreter.s.score(float64(v))
		default:
			reply = Error("ERR Lua redis lib command arguments must be strings or integers")
		}
	}
	if reply == nil {
		reply = interpreter.inScript(args)
	}
	if e, ok := reply.(Error); ok {
		t := l.NewTable()
		t.RawSetString("err", lua.LString(e))
		if raises {
			t.RawSetString("line", lua.LString(where(l)))
			l.Error(t, 0)
		}
		l.Push(t)
		return 1
	}
	l.Push(toLua(l, reply))
	return 1
}

// where is the line of the running script.
func where(l *lua.LState) string {
	for level := 1; ; level++ {
		d, ok := l.GetStack(level)
		if !ok {
			return "0"
		}
		if _, err := l.GetInfo("Sl", d, lua.LNil); err == nil && d.CurrentLine > 0 {
			return strconv.Itoa(d.CurrentLine)
		}
	}
}

func toLua(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case nil:
		return lua.LFalse
	case int64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case Status:
		t := l.NewTable()
		t.RawSetString("ok", lua.LString(v))
		return t
	case []any:
		t := l.NewTable()
		for _, e := range v {
			t.Append(toLua(l, e))
		}
		return t
	}
	panic(fmt.Sprintf("simredis: %T in a script", v))
}

func fromLua(v lua.LValue) any {
	switch v := v.(type) {
	case lua.LString:
		return string(v)
	case lua.LNumber:
		return int64(v)
	case lua.LBool:
		if v {
			return int64(1)
		}
		return nil
	case *lua.LTable:
		if e, ok := v.RawGetString("err").(lua.LString); ok {
			return Error(e)
		}
		if s, ok := v.RawGetString("ok").(lua.LString); ok {
			return Status(s)
		}
		all := []any{}
		for i := 1; ; i++ {
			e := v.RawGetInt(i)
			if e == lua.LNil {
				return all
			}
			all = append(all, fromLua(e))
		}
	}
	return nil
}

func sha(source string) string {
	sum := sha1.Sum([]byte(source))
	return hex.EncodeToString(sum[:])
}

// load compiles a script, once a process.
func load(source string) (string, error) {
	id := sha(source)
	interpreter.mu.Lock()
	defer interpreter.mu.Unlock()
	if interpreter.bodies[id] != nil {
		return id, nil
	}
	chunk, err := parse.Parse(strings.NewReader(source), "user_script")
	if err != nil {
		return "", err
	}
	proto, err := lua.Compile(chunk, "user_script")
	if err == nil {
		interpreter.bodies[id] = interpreter.l.NewFunctionFromProto(proto)
	}
	return id, err
}

// eval runs a loaded script.
func (s *Server) eval(id string, keys, args []string) any {
	interpreter.mu.Lock()
	defer interpreter.mu.Unlock()
	l := interpreter.l
	interpreter.running = running{s: s, keys: keys, full: s.Full}
	list := func(all []string) *lua.LTable {
		t := l.CreateTable(len(all), 0)
		for _, a := range all {
			t.Append(lua.LString(a))
		}
		return t
	}
	l.G.Global.RawSetString("KEYS", list(keys))
	l.G.Global.RawSetString("ARGV", list(args))
	l.Push(interpreter.bodies[id])
	if err := l.PCall(0, 1, nil); err != nil {
		l.SetTop(0)
		return failure(id, err)
	}
	v := l.Get(-1)
	l.SetTop(0)
	return fromLua(v)
}

// failure is the reply to a script that has failed.
func failure(id string, err error) Error {
	api, ok := err.(*lua.ApiError)
	if !ok {
		return Error("ERR " + err.Error())
	}
	if t, ok := api.Object.(*lua.LTable); ok {
		return Error(fmt.Sprintf("%s script: %s, on @user_script:%s.", t.RawGetString("err"), id, t.RawGetString("line")))
	}
	text := strings.ReplaceAll(api.Object.String(), "\n", " ")
	line, _, _ := strings.Cut(strings.TrimPrefix(text, "user_script:"), ":")
	return Error(fmt.Sprintf("ERR %s script: %s, on @user_script:%s.", text, id, line))
}

// inScript runs a command of a script.
func (r *running) inScript(args []string) any {
	if len(args) == 0 {
		return Error("ERR Please specify at least one argument for this redis lib call")
	}
	s := r.s
	name := args[0]
	d, ok := commands[name]
	if !ok {
		name = strings.ToUpper(name)
		d, ok = commands[name]
	}
	a := args[1:]
	switch {
	case !ok && !containers[name]:
		return Error("ERR Unknown Redis command called from script")
	case ok && !d.takes(len(a)):
		return Error("ERR Wrong number of args calling Redis command from script")
	case d.run == nil:
		return Error("ERR This Redis command is not allowed from script")
	case s.denies(strings.ToUpper(name), true):
		return errScriptACL
	case s.NoChannels && d.flags&channel != 0:
		return errScriptChan
	}
	if !r.wrote {
		if err := s.unwritable(d, false); err != nil {
			return err
		}
		if r.full && d.flags&grows != 0 && s.master == nil {
			return errFull
		}
	}
	if s.cluster != nil {
		if err := s.cluster.inScript(strings.ToUpper(name), d, a); err != nil {
			return err
		}
	}
	r.wrote = r.wrote || d.flags&writes != 0
	reply := d.run(s, a)
	if d.flags&writes == 0 && d.flags&noKeys == 0 {
		if s.Version < "7.2" { // it tracks all keys that the script was called with
			a = r.keys
		} else {
			a = d.keys(a)
		}
		s.current.read(a)
	}
	return reply
}
