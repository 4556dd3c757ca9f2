-- request() returns three requests at once.
function init()
   local all = {}
   for i, name in ipairs({"one", "two", "three"}) do
      all[i] = wrk.format("GET", "/" .. name)
   end
   text = table.concat(all)
end

function request()
   return text
end
