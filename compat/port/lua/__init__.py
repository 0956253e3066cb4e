"""Operations of Lua for drafts, which call them where the types do not tell Python's form.

A function of Lua with several results is one of Python's that gives a tuple; ``values``, ``first``
and ``adjust`` take it apart. Tables are lists where their keys are 1…n, else dicts; ``index`` and
``put`` take Lua's keys of both, of tensors, objects and strings.
"""

import sys

from compat.port.lua import coroutine
from compat.port.lua.calls import (
    call,
    check,
    checked,
    dofile,
    error,
    factory,
    instance,
    method,
    pcall,
    require,
    with_total_weight,
    xpcall,
)
from compat.port.lua.files import (
    COLORS,
    SYSTEM,
    dir,
    file_type,
    files,
    iterdirs,
    iterfiles,
    must_open,
    open,
    opened,
    output,
    popen,
    setting,
    stderr,
    stdin,
    stdout,
    succeeds,
    tried,
    write,
)
from compat.port.lua.kinds import is_type_of, istype, type, type_name, typename
from compat.port.lua.modules import (
    evaluate,
    function,
    loadstring,
    main,
    module,
    named,
    run_again,
    torch_class,
    variable,
    variables,
)
from compat.port.lua.numbers import (
    add,
    div,
    divided,
    mod,
    modf,
    modulo,
    mul,
    pow,
    range,
    sub_,
    tonumber,
)
from compat.port.lua.objects import Object
from compat.port.lua.originals import (
    attributes,
    date,
    draw_for_nn,
    lapp,
    random,
    randomseed,
    time,
    tmpname,
)
from compat.port.lua.pools import threads
from compat.port.lua.printing import print
from compat.port.lua.runtime import Storage, library, package, torch
from compat.port.lua.strings import (
    byte,
    char,
    find,
    format,
    gmatch,
    gsub,
    match,
    parts,
    pieces,
    split,
    sub,
)
from compat.port.lua.table_package import concat, insert, maxn, pack, remove, removed, sort, unpack
from compat.port.lua.tables import (
    Table,
    entry_after,
    equal,
    getmetatable,
    index,
    ipairs,
    item_after,
    iterate,
    joined,
    length,
    lists_in,
    next,
    pairs,
    put,
    rawequal,
    rawget,
    rawset,
    setmetatable,
    with_metatables,
    without_functions,
)
from compat.port.lua.tensors import (
    Pointer,
    apply,
    converted,
    copy_memory,
    dim,
    item,
    parameters,
    pointer,
    resized,
    same,
    text_at,
)
from compat.port.lua.text import Error, bytes_as_text, text, tostring
from compat.port.lua.values import (
    Box,
    adjust,
    both,
    counted,
    either,
    first,
    given,
    lists,
    nothing,
    numbered,
    results,
    select,
    trimmed,
    truth,
    values,
)
from compat.threads import threadid

if sys.version_info >= (3, 11):  # before, each call of Python's takes some of the C stack
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))  # Lua's calls nest deeper
