"""threads: Lua in several threads, at the same time."""

from __future__ import annotations

from compat import lua


def test_jobs_run_at_the_same_time(runtime: lua.Runtime) -> None:
    # Each job waits in Lua for the other: one after the other they would never end.
    assert (
        runtime.execute("""
        local threads = require 'threads'
        threads.Threads.serialization('threads.sharedserialize')
        local flags = torch.zeros(2)
        local pool = threads.Threads(2)
        local met = 0
        for i = 1, 2 do
           pool:addjob(function()
              flags[i] = 1
              local started = os.time()
              while flags[3 - i] == 0 and os.time() - started < 60 do end
              return flags[3 - i]
           end, function(seen) met = met + seen end)
        end
        pool:synchronize()
        pool:terminate()
        return met
    """)
        == 2
    )


def test_each_thread_draws_its_own_random_numbers(runtime: lua.Runtime) -> None:
    runtime.execute("""
        local threads = require 'threads'
        torch.manualSeed(5)
        first = torch.uniform()
        torch.manualSeed(5)
        local pool = threads.Threads(1, function() require 'torch' torch.manualSeed(1) end)
        pool:addjob(function() return torch.uniform() end, function(x) theirs = x end)
        pool:synchronize()
        pool:terminate()
        second = torch.uniform()
        torch.manualSeed(1)
        expected = torch.uniform()
    """)
    found = runtime.globals()
    assert found.first == found.second
    assert found.theirs == found.expected


def test_a_shared_storage_that_one_thread_resizes_stays_whole_for_the_other(
    runtime: lua.Runtime,
) -> None:
    assert (
        runtime.execute("""
        local threads = require 'threads'
        threads.Threads.serialization('threads.sharedserialize')
        local x = torch.ones(1000)
        local pool = threads.Threads(1, function() end)
        pool:addjob(function() kept = x return 0 end)
        pool:synchronize()
        x:resize(1000000):fill(7)
        pool:addjob(function() kept:add(1) return kept:sum() end, function(sum) theirs = sum end)
        pool:synchronize()
        pool:terminate()
        return theirs + x[1]
    """)
        == 2007
    )


def test_counters_and_tables_are_shared(runtime: lua.Runtime) -> None:
    assert (
        runtime.execute("""
        local threads, tds = require 'threads', require 'tds'
        threads.Threads.serialization('threads.sharedserialize')
        local counter, hash = tds.AtomicCounter(), tds.Hash()
        local pool = threads.Threads(3)
        for i = 1, 6 do
           pool:addjob(function()
              for _ = 1, 1000 do counter:inc() end
              hash[i] = 'done'
           end)
        end
        pool:synchronize()
        pool:terminate()
        return counter:get() + #hash
    """)
        == 6006
    )


def test_what_cannot_be_passed_is_an_error_where_it_is_given(runtime: lua.Runtime) -> None:
    message = runtime.execute("""
        local pool = require('threads').Threads(1)
        local thread = coroutine.create(print)
        local _, message = pcall(pool.addjob, pool, function() return thread end)
        pool:terminate()
        return message
    """)
    assert "Unwritable object <thread>" in message


def test_a_job_that_its_thread_cannot_read_is_an_error(runtime: lua.Runtime) -> None:
    message = runtime.execute("""
        local pool, hash = require('threads').Threads(1), require('tds').Hash()
        pool:addjob(function() return hash end)  -- the thread knows no tds
        local _, message = pcall(pool.synchronize, pool)
        pool:synchronize()
        pool:terminate()
        return message
    """)
    assert "unknown Torch class <tds.Hash>" in message


def test_a_counter_tells_what_it_was(runtime: lua.Runtime) -> None:
    assert runtime.execute("""
        local counter = require('tds').AtomicCounter()
        local first, second = counter:inc(), counter:inc()
        return first == 0 and second == 1 and counter:get() == 2
    """)
