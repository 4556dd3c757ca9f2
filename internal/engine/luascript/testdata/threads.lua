-- done() reads what each thread counted.
local threads = {}

function setup(thread)
   table.insert(threads, thread)
   thread:set("id", #threads)
end

function init()
   sent, answered = 0, 0
end

function request()
   sent = sent + 1
   return wrk.request()
end

function response()
   answered = answered + 1
end

function done()
   for i, thread in ipairs(threads) do
      assert(thread:get("id") == i)
      print(i, thread:get("sent"), thread:get("answered"))
   end
end
