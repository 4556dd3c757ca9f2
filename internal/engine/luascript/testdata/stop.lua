-- A thread ends its load after four responses.
local left = 4

function response()
   left = left - 1
   if left == 0 then
      wrk.thread:stop()
   end
end
