-- Each case is a line of output: its name and its values. lua5.1, luajit and dyno run this file.
local function text(v)
  if type(v) == "string" then
    local s = "'"
    for i = 1, #v do
      local c = string.byte(v, i)
      if c >= 32 and c < 127 then s = s .. string.char(c) else s = s .. "<" .. c .. ">" end
    end
    return s .. "'"
  elseif type(v) == "table" or type(v) == "function" then
    return type(v)
  end
  return tostring(v)
end

local function case(name, f)
  local all = {pcall(f)}
  local n = select("#", pcall(f))
  if not all[1] then print(name .. "\terror") return end
  local out = {}
  for i = 2, n do out[#out + 1] = text(all[i]) end
  print(name .. "\t" .. table.concat(out, " "))
end

-- each calls f with each of the values, one case for each.
local function each(name, f, ...)
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    case(name .. " " .. text(v), function() return f(v) end)
  end
end

local inf, nan = 1 / 0, 0 / 0
local texts = {"010", "0100", "08", "0x10", "0X1f", "-0x10", "1e3", "5E-1", "1E+2", " 7 ", "\t7\n", "\v7\f", "7 7", "", " ", "x",
  "1x", "0x", "0xg", "1e", "1e+", ".5", "5.", ".", "-.5e1", "+5", "--5", "- 5", "1e400", "-1e400", "1e-400", "inf", "-inf", "nan", "infinity",
  "1_0", "0x1_0", "0x1p4", "0x.8", "0x1.8p1", "1e1e1", "12345678901234567890", "0xffffffffffffffff", "0.1", "1\0", "0b1", "1.5.2", "9007199254740993",
  "1,5", "1f", "١", "00", "-0", "0e0"}
for _, s in ipairs(texts) do
  case("tonumber " .. text(s), function() return tonumber(s) end)
  case("add " .. text(s), function() return s + 0 end)
  case("negate " .. text(s), function() return -s end)
  case("ten " .. text(s), function() return tonumber(s, 10) end)
end
each("sub", function(s) return 10 - s end, "0100", "1e2", "x")
each("mul", function(s) return s * "2" end, "0100", "1e2", {})
each("div", function(s) return s / "010" end, "0100", 5, true)
each("pow", function(s) return s ^ "010" end, "2", 2, "x")
each("mod", function(s) return s % "010" end, "0103", 103, -3)
for _, b in ipairs{2, 3, 7, 8, 11, 16, 35, 36} do
  each("base " .. b, function(s) return tonumber(s, b) end, "10", "z", "Zz", "7", "8", "ff", "0xff", " 11 ", "-11", "1.5", "", "1e1", "+1")
end
each("bad base", function(b) return tonumber("1", b) end, 0, 1, 37, -2, 10.9, "16", "x")
case("huge in base 16", function() return tonumber("ffffffffffffffffffff", 16) end)
each("tonumber of", tonumber, 12, true, {}, print, inf)
case("tonumber of nil", function() return tonumber(nil) end)
case("tonumber without", function() return tonumber() end)

local numbers = {0, 1, -1, 0.5, -0.5, 100, 1e5, 1e14, 1e15, 1e16, -1e15, 1e100, 1e-5, 1e-7, 123456.789, 2 ^ 31, -2 ^ 31, 2 ^ 32 + 0.5, 2 ^ 53,
  2 ^ 63, -2 ^ 63, 2 ^ 64, 1 / 3, 0.1, 0.1 + 0.2, 100 * 1.1, 3.14159265358979, 12345678901234, 99999999999999, 999999999999999, 1234567890123456,
  99999999999999.5, 1.7976931348623157e308, 5e-324, inf, -inf, 1e21, 123456789012344, 0.00001234, 255, 65, 3.7, -3.7, 2.5, 1.5, 1e300, 9.3e18}
for _, v in ipairs(numbers) do
  local name = " " .. string.format("%.17g", v)
  case("tostring" .. name, function() return tostring(v) end)
  case("concat" .. name, function() return v .. "" end)
  case("join" .. name, function() return table.concat({v, v}, ";") end)
  case("format" .. name, function()
    return string.format("%g %s %5.2f %.3f %e %10.4g %G %E %-8g| %+g % g %08.3f %.17g", v, v, v, v, v, v, v, v, v, v, v, v, v)
  end)
  case("integers" .. name, function()
    return string.format("%d %i %5d %-5d| %05d %+d % d %.3d %3.2d", v, v, v, v, v, v, v, v, v)
  end)
  case("unsigned" .. name, function() return string.format("%u %x %X %o %#x %#o %08x", v, v, v, v, v, v, v) end)
  for _, f in ipairs{"abs", "ceil", "floor", "sqrt", "deg", "rad", "frexp", "modf", "log10", "exp"} do
    case(f .. name, function() return math[f](v) end)
  end
end
case("negative zero", function() return -0 / 1, tostring(-0), -0 .. "", 1 / -0, 0 * -1, string.format("%g %d", -0.0, -0.0) end)
case("tie", function() return 123456789012345, 12345678901234.5, string.format("%.0f %.0f %.2f", 0.5, 2.5, 0.125) end)
case("nan", function() return tostring(nan), nan .. "", string.format("%f %g %d", nan, nan, nan) end)
case("format text", function()
  return string.format("%s|%5s|%-5s|%.2s|%5.1s|%c|%5c|%%|%s", "a", "b", "c", "xyz", "xyz", 65, 66, 12)
end)
case("format with text of numbers", function() return string.format("%d %5.1f %x %s", "10", "0x10", " 15 ", "010") end)
each("format spec", function(s) return string.format(s, 1) end, "%y", "%", "%5", "%123d", "%.123f", "%1$d", "%ld", "%5%", "%n", "%-+ #05d", "%.f",
  "%.d", "%5.", "no", "%%", "%d%", "%h", "%F", "%D")
each("format of", function(v) return string.format("%d", v) end, "x", {}, true, "1x")
case("format without", function() return string.format("%d") end)
case("format nil", function() return string.format() end)
case("format too many", function() return string.format("%d", 1, 2) end)
case("quoted", function() return string.format("%q", 'a "b" \\ \n c'), string.format("%q", 12), string.format("%q", "é") end)
case("quoted control", function() return string.format("%q", "\0\r\0011\127") end)
case("format zero", function() return string.format("a\0b%sc\0d", "x\0y") end)
case("format alternate", function() return string.format("%#g %#.0f %#.3e %#x %#o %#.3g", 1.5, 2, 2.5, 0, 0, 100) end)
case("format others", function() return string.format("%s %s", nil == nil, "x") end)
case("format a table", function() return (string.format("%s", {}):gsub("0x%x+", "")) end)

case("huge", function() return math.huge, -math.huge, math.huge == inf, math.huge > 1.7976931348623157e308 end)
case("pi", function() return math.pi end)
for _, p in ipairs{{5, 3}, {-5, 3}, {5, -3}, {-5, -3}, {5.5, 2}, {-5.5, 2}, {5, inf}, {-5, inf}, {inf, 5}, {5.3, 0.1}, {1e15, 0.3}, {7, 0.7}, {2 ^ 53, 3},
  {0, 5}, {6, 3}} do
  local name = " " .. p[1] .. " " .. p[2]
  case("%" .. name, function() return p[1] % p[2] end)
  case("fmod" .. name, function() return math.fmod(p[1], p[2]) end)
  case("pow" .. name, function() return math.pow(p[1], p[2]), p[1] ^ p[2] end)
  case("atan2" .. name, function() return math.atan2(p[1], p[2]) end)
  case("max" .. name, function() return math.max(p[1], p[2]), math.min(p[1], p[2], 0), math.max(p[1]) end)
end
case("constants", function() return 5 % 3, -5 % 3, 5.3 % 0.1, 7 % inf, 2 ^ 10, -2 ^ 2, 2 ^ 3 ^ 2, 10 / 4, 1 / 0, -1 / 0, 7 - 7, 0x10, 0xff, 1e2, .5, 5., 3e-2, 0xFFFFFFFFF end)
case("leading zeros", function() return 010, 0010, 08, 00, 007.5, 1e05 end)
case("power", function() return (-8) ^ (1 / 3) ~= (-8) ^ (1 / 3), 2 ^ 0.5, 10 ^ 2 == 100, 10 ^ -2, 0 ^ 0 end)
case("ldexp", function() return math.ldexp(1, 4), math.ldexp(1, 2.9), math.ldexp("3", "2"), math.ldexp(1, -2000), math.ldexp(1, 5000) end)
case("log", function() return math.log(1), math.log(math.exp(2)), math.log10(1000), math.sin(0), math.cos(0), math.tan(0), math.asin(1), math.acos(1), math.atan(1) end)
case("log of a base", function() return math.log(8, 2) end)
case("mod", function() return math.mod(5, 3) end)
each("math of", function(v) return math.floor(v) end, "3.7", "x", {}, true)
case("max of text", function() return math.max(1, "5"), math.min("3", 2) end)
case("max of none", function() return math.max() end)
case("random", function()
  for i = 1, 1000 do
    local a, b, c = math.random(), math.random(5), math.random(-3, 3)
    assert(a >= 0 and a < 1 and b >= 1 and b <= 5 and b % 1 == 0 and c >= -3 and c <= 3)
  end
  return math.random(1), math.random(7, 7)
end)
case("random of text", function() return math.random("1"), math.random("2", "2") end)
case("random of nothing", function() return math.random(5, 1) end)
case("random of 0", function() return math.random(0) end)
case("randomseed", function() math.randomseed(1) local a = math.random() math.randomseed(1) return a == math.random() end)

case("rep", function() return ("ab"):rep(3), ("x"):rep(0), ("x"):rep(-1), ("x"):rep(2.7), ("x"):rep("2"), (5):type() end)
case("rep of numbers", function() return string.rep(12, 2), string.rep("", 100) end)
for _, p in ipairs{{1, 3}, {2, -2}, {-2, -1}, {0, 2}, {-100, 2}, {3, 2}, {2, 100}, {10, 20}, {1.9, 2.9}, {"2", "3"}} do
  local name = " " .. text(p[1]) .. " " .. text(p[2])
  case("sub" .. name, function() return ("abcde"):sub(p[1], p[2]) end)
  case("byte" .. name, function() return ("abcde"):byte(p[1], p[2]) end)
end
case("sub with one", function() return ("abc"):sub(-1), ("abc"):sub(2), ("abc"):sub(4), (""):sub(1), string.sub(12345, 2, 3) end)
case("sub without", function() return ("abc"):sub() end)
case("byte", function() return ("a"):byte(), ("abc"):byte(-1), ("abc"):byte(10), (""):byte(), ("é"):byte(1, -1) end)
case("char", function() return string.char(72, 105), string.char(), string.char("65", 66.9), string.char(0, 255) end)
each("char of", string.char, 256, -1, "x")
case("case", function() return ("aBcÉé1"):upper(), ("aBcÉé1"):lower(), (12):type() end)
case("case of text", function() return ("aBc\0Dé"):upper(), ("aBc\0Dé"):lower(), ("abc"):reverse(), (""):reverse(), ("é"):reverse() end)
case("len", function() return #"a\0b", ("a\0b"):len(), #"", string.len(12), #"é" end)
case("escapes", function() return "\65\066\0067\a\b\f\n\r\t\v\\\"\'\
x", 'it\'s', [[a\n]], [==[
x]]y]==], "\0end" end)
for _, p in ipairs{"b", "", "%d", "^a", "^b", "c$", "$", "^$", "a-", ".-", "b*", "b+", "b?", "[bc]", "[^a]", "[a-b]", "[%d]", "[]]", "[a-]", "[%-b]",
  "[^%s]", "%w+", "%a%a", "(b)", "()b()", "(b)(c)", "((b)c)", "(.)%1", "%b()", "%f[b]", "%f[%z]", ".", "%.", "%%", "[", "[a", "%", "(", "(b", "b)", "%1", "%b", "%bx",
  "%f", "%fb", "[%", "[]", "[^]", "[^]]", "b**", "b-c", "^^a", "$a", "a$b", "%g", "[a%-z]", "[z-a]", "%A", "%D", "%S", "%W", "%x+", "%X", "%p", "%c", "%u", "%l",
  "(a*)", "(a*(.)%w(%s*))", "%0", "(%a+) (%a+)", "()", "%z", "\0", "[\0]", "^(.-)c", "b(", "%q", "a.c", "[.]", "[%.]", "[+-]", "(()())"} do
  local name = " " .. text(p)
  case("find" .. name, function() return ("abc abb"):find(p) end)
  case("find from 3" .. name, function() return ("abc abb"):find(p, 3) end)
  case("match" .. name, function() return ("abc abb"):match(p) end)
  case("gsub" .. name, function() return ("abc abb"):gsub(p, "<%0>") end)
  case("gsub 1" .. name, function() return ("abc abb"):gsub(p, "<%1>", 1) end)
  case("gmatch" .. name, function()
    local all = {}
    for a, b in ("abc abb"):gmatch(p) do
      all[#all + 1] = text(a) .. text(b)
      if #all > 20 then break end
    end
    return table.concat(all, ",")
  end)
end
each("find from", function(n) return ("abcabc"):find("c", n) end, 1, 4, 7, 100, -1, -4, -100, 0, "4", 3.9)
case("find empty", function() return ("abc"):find("", 10), ("abc"):find("", 4), (""):find(""), ("abc"):find("") end)
case("find plain", function() return ("a.c"):find(".", 1, true), ("a.c"):find("%", 1, true), ("a(c"):find("(", 2, true), ("abc"):find("b", 1, false) end)
case("find zero", function() return ("a\0b"):find("b"), ("a\0b"):find("%z"), ("a\0b"):match("%z(.)"), ("a\0b"):gsub("%z", "0") end)
case("match from", function() return ("abc"):match("b", 3), ("abcb"):match("b()", 3), ("abc"):match("", 10), ("abc"):match(".", -1) end)
case("match words", function() return ("2024-01-02"):match("(%d+)-(%d+)-(%d+)"), ("  x y  "):match("^%s*(.-)%s*$"), ("k=v"):match("^(%w+)=(%w*)$") end)
case("match numbers", function() return string.match(12345, "3(.)"), ("item-0100"):match("%d+") + 1 end)
case("balanced", function() return ("f(a(b)c)d)"):match("%b()"), ("((x"):match("%b()"), ("aXbXa"):match("%bab"), ("xx"):match("%bxx") end)
case("frontier", function() return ("THE (quick) fox"):find("%f[%a]%a+%f[%A]"), ("THE (quick) fox"):gsub("%f[%a]%a+", "X") end)
each("gsub with", function(r) return ("abc"):gsub("b", r) end, "x", "%%", "%0%0", 5, 1.5, true, "%1")
each("gsub bad", function(r) return ("abc"):gsub("b", r) end, "%2", "%9")
case("gsub table", function() return ("$a $b $c"):gsub("%$(%w+)", {a = 1, b = "x", c = false}) end)
case("gsub table of tables", function() return ("abc"):gsub("b", {b = {}}) end)
case("gsub function", function() return ("abc"):gsub("%w", function(c) if c == "b" then return c:upper() end end) end)
case("gsub function of captures", function() return ("a=1, b=2"):gsub("(%w)=(%w)", function(k, v) return v .. "=" .. k end) end)
case("gsub function number", function() return ("abc"):gsub("b", function() return 10 end), ("abc"):gsub("()b", function(n) return n end) end)
case("gsub function table", function() return ("abc"):gsub("b", function() return {} end) end)
case("gsub function error", function() return ("abc"):gsub("b", function() error("x") end) end)
case("gsub nothing", function() return ("abc"):gsub("b", nil) end)
case("gsub index", function() return ("ab"):gsub("%w", setmetatable({}, {__index = function(_, k) return k .. k end})) end)
each("gsub most", function(n) return ("hello world"):gsub("o", "0", n) end, 0, 1, 2, 3, -1, "1")
case("gsub empty", function() return ("abc"):gsub("", "-"), (""):gsub("", "-"), ("abc"):gsub("b*", "-"), ("hello"):gsub("l*", "x") end)
case("gsub anchor", function() return ("aaa"):gsub("^a", "x"), ("abc"):gsub("^b", "x"), ("a$c"):gsub("$c", "x"), ("abc"):gsub("c$", "x") end)
case("gsub escape", function() return ("a.b"):gsub("%.", "%%"), ("abc"):gsub("%w", "%%%0"), ("a b"):gsub("(%w) (%w)", "%2 %1") end)
case("gsub trailing", function() return ("abc"):gsub("b", "%") end)
case("gsub letter", function() return ("abc"):gsub("b", "%a") end)
case("url", function() return ("a b&c/é"):gsub("[^%w]", function(c) return string.format("%%%02X", c:byte()) end) end)
case("unurl", function() return ("a%20b%2F"):gsub("%%(%x%x)", function(h) return string.char(tonumber(h, 16)) end) end)

case("concat", function() return table.concat({}), table.concat({1, 2.5, "x"}, ","), table.concat({1, 2, 3}, ",", 2), table.concat({1, 2, 3}, ",", 2, 3) end)
case("concat empty", function() return table.concat({1, 2, 3}, ",", 3, 2), table.concat({}, ",", 1, 0), table.concat({[5] = "x"}, ",", 5, 5) end)
case("concat nothing", function() return table.concat({}, ",", 1, 1) end)
case("concat beyond", function() return table.concat({1, 2}, ",", 1, 3) end)
case("concat zero", function() return table.concat({[0] = "z", "a"}, "-", 0, 1) end)
case("concat table", function() return table.concat({1, {}, 3}) end)
case("concat number", function() return table.concat({1, 2}, 0) end)
case("concat true", function() return table.concat({true}) end)
local function after(f, ...) local t = {...} f(t) return #t, unpack(t) end
case("insert", function() return after(function(t) table.insert(t, "x") end, 1, 2) end)
case("insert first", function() return after(function(t) table.insert(t, 1, "x") end, 1, 2) end)
case("insert middle", function() return after(function(t) table.insert(t, "2", "x") end, 1, 2, 3) end)
case("insert at the end", function() return after(function(t) table.insert(t, 3, "x") end, 1, 2) end)
case("insert into nothing", function() return after(function(t) table.insert(t, 1, "x") end) end)
case("insert without", function() table.insert({}) end)
case("insert too much", function() table.insert({}, 1, 2, 3) end)
case("insert in text", function() table.insert({}, "x", 1) end)
case("insert far", function() local t = {1, 2} table.insert(t, 5, "x") return t[3], t[5], t[1], t[2] end)
case("insert before", function() local t = {1, 2} table.insert(t, 0, "x") return t[0], t[1], t[2], t[3] end)
case("remove", function() return after(function(t) return table.remove(t) end, 1, 2, 3) end)
case("remove first", function() local t = {1, 2, 3} return table.remove(t, 1), #t, t[1], t[2] end)
case("remove from nothing", function() return table.remove({}), (table.remove({}, 1)) end)
case("remove beyond", function() local t = {1, 2} return table.remove(t, 5), #t end)
case("remove text", function() local t = {1, 2, 3} return table.remove(t, "2"), #t end)
case("sort", function() return after(table.sort, 3, 1, 2, -1, 10, 2.5) end)
case("sort text", function() return after(table.sort, "b", "a", "B", "", "ab") end)
case("sort by", function() return after(function(t) table.sort(t, function(a, b) return a > b end) end, 3, 1, 2) end)
case("sort mixed", function() table.sort({1, "x"}) end)
case("sort tables", function() table.sort({{}, {}}) end)
case("sort nothing", function() return after(table.sort), after(table.sort, 1) end)
case("sort wrongly", function() table.sort({3, 1, 2, 5, 4, 9, 8, 7, 6}, function() return true end) end)
case("sort equals", function()
  local t = {}
  for i = 1, 40 do t[i] = {k = i * 7 % 5, n = i} end
  table.sort(t, function(a, b) return a.k < b.k end)
  local s = ""
  for _, v in ipairs(t) do s = s .. v.n .. "," end
  return s
end)
case("maxn", function() return table.maxn({}), table.maxn({1, 2, nil, 4}), table.maxn({[10] = 1, [2.5] = 1, x = 1}) end)
case("getn", function() return table.getn({1, 2, 3}) end)
case("foreach", function() local s = 0 table.foreach({1, 2, x = 3}, function(_, v) s = s + v end) return s end)
case("foreachi", function() return table.foreachi({5, 6, 7}, function(i, v) if v == 6 then return i end end) end)
case("length", function() return #{}, #{1, 2, 3}, #{n = 1}, #{1, 2, nil, 4}, #{nil, nil, 3}, #"abc" end)
case("length after", function() local t = {1, 2, 3} t[#t] = nil t[#t + 1] = "x" t[#t + 1] = "y" return #t, t[3], t[4] end)
case("length of numbers", function() return #5 end)
case("length of tables", function() return #setmetatable({1}, {__len = function() return 7 end}) end)
case("keys", function() local t = {} t[1.0] = "a" t["1"] = "b" t[2 ^ 53] = "c" t[-1] = "d" t[1.5] = "e" t[true] = "f" return t[1], t["1"], t[2 ^ 53], t[-1], t[3 / 2], t[true] end)
case("key nil", function() local t = {} t[nil] = 1 end)
case("key nan", function() local t = {} t[0 / 0] = 1 end)
case("reading nil", function() local t = {} return t[nil], t[0 / 0] end)
case("constructor", function() local t = {1, [2] = "x", 3, [10 + 1] = 4, ["a b"] = 5; 6} return t[1], t[2], t[3], t[11], t["a b"] end)
case("many", function() local t = {(function() return 1, 2, 3 end)()} return #t, #{(function() return 1, 2 end)(), 5}, #{((function() return 1, 2 end)())} end)
case("unpack", function() return unpack({1, 2, 3}) end)
case("unpack range", function() return unpack({1, 2, 3}, 2), unpack({1, 2, 3}, 2, 3) end)
case("unpack holes", function() return unpack({1, 2}, 1, 4) end)
case("unpack empty", function() return unpack({}), unpack({}, 1, 0), unpack({}, 5, 1) end)
case("unpack text", function() return unpack({1, 2, 3}, "2", "3") end)
case("select", function() return select("#"), select("#", nil, nil), select(2, "a", "b", "c") end)
each("select at", function(n) return select(n, "a", "b", "c") end, -1, -2, 3, 4, 0, -4, "2", 1.9, "x")
case("ipairs", function() local n = 0 for i, v in ipairs({1, 2, nil, 4}) do n = n + i end return n end)
case("ipairs of nothing", function() return ipairs(nil) end)
case("pairs", function() local n = 0 for k, v in pairs({1, 2, x = 3, [10] = 4}) do n = n + v end return n end)
case("pairs of nothing", function() return pairs(nil) end)
case("pairs removing", function() local t, n = {a = 1, b = 2, c = 3}, 0 for k in pairs(t) do t[k] = nil n = n + 1 end return n, next(t) end)
case("next", function() return next({}), next({5}), next({5}, 1), (next({x = 1})) end)
case("next of nothing", function() return next(nil) end)

each("for text", function(n) local s = "" for i = "1", n do s = s .. i .. "," end return s end, "3", "1e1", "x")
case("for fractions", function() local s = "" for i = 0, 1, 0.25 do s = s .. i .. "," end return s end)
case("for tenths", function() local n = 0 for i = 0, 1, 0.1 do n = n + 1 end return n end)
case("for down", function() local s = "" for i = 3, 1, -1 do s = s .. i end return s end)
case("for not", function() local n = 0 for i = 1, 0 do n = n + 1 end for i = 1, nan do n = n + 1 end return n end)
case("for nil", function() for i = 1, nil do end end)
case("for of text step", function() local n = 0 for i = 1, 10, "2" do n = n + i end return n end)
case("for changed", function() local n = 0 for i = 1, 3 do local j = i i = 10 n = n + j end return n end)
case("for closures", function() local f = {} for i = 1, 3 do f[i] = function() return i end end return f[1](), f[2](), f[3]() end)
each("less", function(v) return 1 < v end, 2, "2", {}, true)
case("less nil", function() return 1 < nil end)
case("compare", function() return "a" < "b", "a" < "B", "10" < "9", "a" < "ab", "a\0b" < "a\0c", "" < "a", 1 == "1", "1" == 1, nan == nan, nan ~= nan, nan < 1, nan >= 1, not (nan < 1), {} == {}, 0 == -0 end)
case("compare tables", function() return {} < {} end)
case("compare booleans", function() return true < false end)
case("compare functions", function() return print <= print end)
case("methods", function()
  local m = {}
  m.__add = function(a, b) return "add" end m.__concat = function(a, b) return "concat" end m.__eq = function() return true end
  m.__lt = function() return true end m.__le = function() return false end m.__unm = function() return "unm" end m.__mod = function() return "mod" end
  m.__call = function(_, x) return x end m.__tostring = function() return "text" end m.__pow = function() return "pow" end m.__index = function(_, k) return k end
  local a, b = setmetatable({}, m), setmetatable({}, m)
  return a + 1, 1 + a, "1" + a, a + "x", a .. "x", "x" .. a, 1 .. a, a .. b, a == b, a < b, a <= b, a > b, -a, a % 2, 2 % a, "7" % a, a("y"), tostring(a), a ^ 2, a.z, a[1]
end)
case("concat chain", function()
  local m = {__concat = function(a, b) return (type(a) == "table" and "T" or a) .. "+" .. (type(b) == "table" and "T" or b) end}
  local a = setmetatable({}, m)
  return 1 .. 2 .. a .. 3 .. 4, a .. 1 .. 2, 1 .. 2 .. a, ("a" .. "b") .. "c", 1 .. (2 .. 3)
end)
case("concat nil", function() return "a" .. nil end)
case("concat table", function() return "a" .. {} end)
case("concat true", function() return true .. "a" end)
case("add nil", function() return 1 + nil end)
case("add table", function() return {} + 1 end)
case("add word", function() return "abc" + 1 end)
case("call nil", function() local x x() end)
case("index nil", function() local x return x.y end)
case("index number", function() return (5).x end)
case("index text", function() return ("abc").x, ("abc").len end)
case("assign nil", function() local x x.y = 1 end)
case("newindex", function() local log = {} local t = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, v * 2) end}) t.a = 1 t[1] = 2 t["x" .. 1] = 3 return t.a, t[1], t.x1 end)
case("rawset", function() return rawset({}, "x", 1).x, rawget({5}, 1), rawequal("a", "a"), rawequal({}, {}) end)
case("setmetatable", function() return getmetatable(setmetatable({}, {__metatable = "m"})), getmetatable(5), type(getmetatable("")) end)
case("setmetatable protected", function() setmetatable(setmetatable({}, {__metatable = 1}), {}) end)
case("setmetatable of number", function() setmetatable(1, {}) end)
case("setmetatable without", function() setmetatable({}) end)
case("text methods", function() getmetatable("").__mod = string.format local a = "%d-%d" % 5 return a end)
case("text index", function() return ("x"):rep(3):upper():len() end)
case("tostring", function() return tostring(nil), tostring(true), tostring("x"), tostring(1.0), (tostring({}):gsub("0x%x+", "")) end)
case("tostring without", function() return tostring() end)
case("type", function() return type(nil), type(1), type("x"), type({}), type(print), type(true), type(coroutine.create(print)) end)
case("type without", function() return type() end)
case("pcall", function() return pcall(function(a, b) return b, a end, 1, 2) end)
case("pcall error", function() return pcall(error, {}), pcall(error), (pcall(error, nil)) end)
case("pcall of nothing", function() return (pcall(nil)) end)
case("error", function() return select(2, pcall(error, "x", 0)), select(2, pcall(error, {5}))[1] end)
case("error text", function() return (select(2, pcall(function() error("x") end)):gsub("^.*:%d+: ", "")) end)
case("error number", function() return type(select(2, pcall(function() error(5) end))) end)
case("error nested", function() return pcall(pcall, error, {}) end)
case("assert", function() return assert(1, 2, 3) end)
case("assert false", function() return (pcall(assert, false)), (pcall(assert, nil, "m")), (pcall(assert)) end)
case("xpcall", function() return xpcall(function() error("x", 0) end, function(m) return m .. "!" end) end)
case("xpcall good", function() return xpcall(function() return 1, 2 end, print) end)
case("loadstring", function() return loadstring("return 1 + 1")(), loadstring("return ...")(7), (loadstring("x =")), type(select(2, loadstring("x ="))) end)
case("loadstring numbers", function() return loadstring("return 010 .. 5 % 3 .. #'abc'")() end)
case("load function", function() local n = 0 return load(function() n = n + 1 return ({"return ", "4", "2"})[n] end)() end)
case("varargs", function() local function f(...) return select("#", ...), ... end return f(1, nil, nil) end)
case("varargs table", function() local function f(...) local t = {...} return #t, (...) end return f(4, 5, 6) end)
case("tail call", function() local function f(n) if n == 0 then return "done" end return f(n - 1) end return f(10000) end)
case("closures", function() local function c() local n = 0 return function() n = n + 1 return n end end local a, b = c(), c() a() return a(), b() end)
case("goto less", function() local n = 0 repeat local done = n > 3 n = n + 1 until done while true do n = n + 1 if n > 10 then break end end return n end)
case("logic", function() return nil and 1, false or 2, nil or false, 1 and 2, not nil, not 0, 1 == 1 and "y" or "n", nil == false end)
case("multiple", function() local a, b, c = (function() return 1, 2 end)() a, b = b, a return a, b, c end)
case("swap", function() local a, b, c = 1, 2, 3 a, b, c = c, a, b return a, b, c end)
case("swap globals", function() A, B = 1, 2 A, B = B, A return A, B end)
case("swap upvalues", function() local a, b = 1, 2 local function f() a, b = b, a end f() return a, b end)
case("assign more", function() local a, b, c = 9, 9, 9 a, b, c = 1, 2 return a, b, c end)
case("assign fewer", function() local a, b a, b = 1, 2, error and 3 return a, b end)
case("assign results", function() local function f() return 1, 2, 3 end local a, b, c, d a, b, c, d = 0, f() return a, b, c, d end)
case("assign single", function() local function f() return 1, 2 end local a, b a, b = (f()) return a, b end)
case("assign varargs", function(...) local function f(...) local a, b a, b = ... return a, b end return f(5, 6, 7) end)
case("assign table and its name", function() local t = {} local u = t t, t.x = 1, 2 return t, u.x end)
case("assign methods", function() local t = {a = {}} t.a.b, t.a.c, t["d"] = 1, 2, 3 return t.a.b, t.a.c, t.d end)
case("fibonacci", function() local a, b = 0, 1 for i = 1, 20 do a, b = b, a + b end return a end)
case("swap in a table", function() local t, i = {1, 2, 3}, 1 t[i], t[i + 1] = t[i + 1], t[i] i, t[i] = i + 1, 20 return t[1], t[2], t[3], i end)
case("keys evaluated once", function()
  local n, t = 0, {}
  local function f() n = n + 1 return t end
  f()[n + 1] = "x" f().a = 1 f()["k" .. n] = 2
  return n, t[1], t[2], t.a, t.k3, t.k2
end)
case("nested assignment", function() local t = {{}, {}} t[1][1] = "a" t[2]["x" .. 1] = "b" t[1][#t[1] + 1] = "c" return t[1][1], t[2].x1, t[1][2] end)
case("coroutine", function()
  local c = coroutine.create(function(a) local b = coroutine.yield(a + 1) error(b) end)
  local _, x = coroutine.resume(c, 1)
  local ok = coroutine.resume(c, "e")
  return x, ok, coroutine.status(c), (coroutine.resume(c))
end)
case("coroutine wrap", function()
  local s = ""
  for i in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) do s = s .. i end
  return s
end)
case("coroutine nested", function()
  local function gen(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end
  local s = 0
  for i in gen(3) do for j in gen(i) do s = s + j end end
  return s
end)
case("coroutine in sort", function() return coroutine.resume(coroutine.create(function() table.sort({2, 1}, function() coroutine.yield() end) end)) ~= nil end)
case("yield outside", function() coroutine.yield(1) end)
case("setfenv", function() local f = setfenv(function() return x end, {x = 5}) return f() end)
case("getfenv", function() return getfenv(1) == _G, _G._G == _G end)
case("time", function() return os.time{year = 2020, month = 1, day = 1, hour = 0}, os.time{year = 2020, month = 14, day = 35, hour = 5, min = 61, sec = 70}, os.time{year = "2021", month = 1, day = 1} end)
case("time without", function() return os.time{year = 2020, month = 1} end)
case("time type", function() return type(os.time()), os.time() % 1, type(os.clock()), os.difftime(5, 3), os.difftime("5", 1) end)
for _, f in ipairs{"%Y-%m-%d %H:%M:%S", "%c", "%x", "%X", "%A %a %B %b", "%p %I", "%j %U %w %W %y", "%%", "%D %T %R %F", "%e", "%d/%m", "text", ""} do
  each("date " .. text(f), function(t) return os.date("!" .. f, t) end, 0, 86399, 1700000000, 951782400)
end
case("date table", function() local d = os.date("!*t", 951782400) return d.year, d.month, d.day, d.hour, d.min, d.sec, d.wday, d.yday, d.isdst end)
case("date text", function() return os.date("!%d", "86400") end)
case("version", function() return _VERSION end)
case("bits", function()
  if not bit then return "none" end
  return bit.band(0xff, 0xf0), bit.bor("1", 2, 4), bit.bxor(-1, 1), bit.bnot(0), bit.lshift(1, 31), bit.lshift(1, 33), bit.rshift(-1, 28), bit.arshift(-16, 2),
    bit.rol(1, 33), bit.ror(1, 1), bit.bswap(1), bit.tobit(2 ^ 32 + 5), bit.tobit(1.5), bit.tobit(2.5), bit.tobit(-1.5), bit.tohex(255), bit.tohex(255, -4), bit.tohex(-1, 2), bit.tohex(1, 12)
end)
each("bad bits", function(v) return bit.band(v) end, "x", {}, true)
case("bits of nothing", function() return bit.band() end)
