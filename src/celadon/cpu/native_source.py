"""The native call as text: what `Jit.__call__` does where machine code does it; native_call loads it, records feed it.

The functions are written in the words of `words`. `call` tries the records of a jitted function one after the other. A
record is a tuple whose first item is `bytes`: words that say what the arguments must be, where they go, and what the
results are made of (`records` lays them out). Whatever fits no record, or is not plain in another way, goes to Python.
"""

from __future__ import annotations

# The words with which a record begins. The names that end in AT are places, counted in words from the record's start or,
# of what a call writes, from the start of its scratch memory.
HEADER = (
    "KEY", "COUNT", "NAMED", "NAMES_AT", "GUARDS", "GUARDS_AT", "KEPT_AT", "INPUTS", "FRAMES", "FIRST_STEP", "STEPS", "HOLD",
    "NUMBERS", "NUMBERS_CELL", "BUFFERS", "BUFFERS_AT", "MAKING", "MAKING_AT", "SCRATCH", "REGISTERS_AT", "HELD_AT",
    "REGIONS_AT", "BLOCKS_AT", "VALUES_AT", "VALUES",
)  # fmt: skip
GUARD_WORDS = 8
BUFFER_WORDS = 3
MAKING_WORDS = 3
SLOT_WORDS = 16  # a scalar has the room that a kernel may read: a line of the cache, and one more
GUARD_KINDS = ("ARRAY", "STATIC", "SAME", "FLOAT", "INT", "BOOL", "TUPLE", "LIST", "DICT")
MAKING_KINDS = ("MADE", "GIVEN", "A_NONE", "A_TUPLE", "A_LIST", "A_DICT", "BUILT")
CONSTANTS = {name: i for names in (HEADER, GUARD_KINDS, MAKING_KINDS) for i, name in enumerate(names)} | {
    "GUARD_BYTES": 8 * GUARD_WORDS, "BUFFER_BYTES": 8 * BUFFER_WORDS, "MAKING_BYTES": 8 * MAKING_WORDS,
}  # fmt: skip

FUNCTIONS = (
    "PyDict_GetItem", "PyDict_New", "PyDict_Next", "PyDict_SetItem", "PyDict_Size", "PyErr_Clear", "PyErr_ExceptionMatches",
    "PyErr_SetInterrupt", "PyEval_RestoreThread", "PyEval_SaveThread", "PyFloat_AsDouble", "PyList_Append", "PyList_New",
    "PyLong_AsSsize_t", "PyLong_AsLongLongAndOverflow", "PyMethod_New", "PyObject_GC_UnTrack", "PyObject_GetAttr",
    "PyObject_RichCompareBool", "PyObject_Vectorcall", "PyThreadState_Get", "PyThreadState_GetID", "PyTuple_New",
    "Py_DecRef", "Py_IncRef",
)  # fmt: skip
OBJECTS = (
    "array", "block", "region", "float", "int", "bool", "list", "dict", "str", "none", "true", "false", "by_python", "find",
    "keep_large", "interrupt", "tracing_state", "settings_state", "settings_everywhere", "word_dict", "word_interpreter",
    "word_overrides", "word_key", "word_native_call",
)  # fmt: skip
PLACES = (
    "chain", "type", "owned", "host", "owner", "pointer", "size", "window", "frame_block", "frame_arena", "tuple_items",
    "list_items", "bytes_items",
)  # fmt: skip
OTHERS = ("array_new", "block_new", "run", "small_bytes", "thread", "tracing_dict", "settings_dict")
OUTSIDE = (*FUNCTIONS, *OBJECTS, *PLACES, *OTHERS)
RETURNS = dict.fromkeys(
    ("PyDict_Next", "PyDict_SetItem", "PyErr_ExceptionMatches", "PyList_Append", "PyObject_RichCompareBool"), "i32"
) | {"PyFloat_AsDouble": "double"}
SYMBOLS = ("outside", "call", "recycle")

SOURCE = '''
def call(self, args, count, names):
    """A METH_FASTCALL | METH_KEYWORDS method of Jit."""
    key = stance()
    if key:
        chain = (self + outside.chain)[0]
        if chain:
            i = 0
            size = chain[2]
            while i < size:
                record = (chain + outside.tuple_items)[i]
                words = (record + outside.tuple_items)[0] + outside.bytes_items
                if words[KEY] == key and words[COUNT] == count and named(words, names):
                    result = attempt(record, words, args)
                    if result != 1:
                        return result
                i += 1
    method = outside.PyMethod_New(outside.by_python, self)
    if not method:
        return 0
    result = outside.PyObject_Vectorcall(method, args, count, names)
    outside.Py_DecRef(method)
    return result

def stance():
    """The key of the settings that hold in this thread; 0 where a trace is open or native calls are switched off."""
    number = outside.PyThreadState_GetID(outside.PyThreadState_Get())
    if number != outside.thread:
        if not met(number):
            return 0
    open = outside.PyDict_GetItem(outside.tracing_dict, outside.word_interpreter)
    if open and open != outside.none:
        return 0
    overrides = outside.PyDict_GetItem(outside.settings_dict, outside.word_overrides)
    if not overrides or overrides == outside.none:
        return ((outside.settings_everywhere + outside.list_items)[0])[0]
    on = outside.PyDict_GetItem(overrides, outside.word_native_call)
    if on and on != outside.true:
        return 0
    return outside.PyDict_GetItem(outside.settings_dict, outside.word_key)

def met(number):
    """Find what this thread keeps in two thread-locals; their dicts are as they are while the thread lives."""
    tracing = outside.PyObject_GetAttr(outside.tracing_state, outside.word_dict)
    if not tracing:
        outside.PyErr_Clear()
        return 0
    settings = outside.PyObject_GetAttr(outside.settings_state, outside.word_dict)
    outside.Py_DecRef(tracing)
    if not settings:
        outside.PyErr_Clear()
        return 0
    outside.Py_DecRef(settings)
    outside.tracing_dict = tracing
    outside.settings_dict = settings
    outside.thread = number
    return 1

def named(words, names):
    """Whether the keywords are a record's, in its order."""
    if not names:
        if words[NAMED]:
            return 0
        return 1
    if words[NAMED] != names[2]:
        return 0
    i = 0
    while i < words[NAMED]:
        if not same((names + outside.tuple_items)[i], words[words[NAMES_AT] + i]):
            return 0
        i += 1
    return 1

def same(x, expected):
    """Whether a value is, or is equal to, an expected one of str, int or float, whose comparison runs no Python."""
    if x == expected:
        return 1
    kind = x[1]
    if kind != expected[1]:
        return 0
    if kind != outside.str and kind != outside.int and kind != outside.float:
        return 0
    return outside.PyObject_RichCompareBool(x, expected, 2)

def attempt(record, words, args):
    """The result, 0 with an exception, or 1 if the call does not fit the record. What does not fit changed nothing."""
    scratch = room(words[SCRATCH])
    if not fits(words, args, scratch):
        return 1
    frame = popped(words[FRAMES])
    if not frame:
        return 1
    outside.Py_IncRef(record)
    base = outside.PyLong_AsSsize_t((((frame + outside.frame_block)[0]) + outside.pointer)[0])
    hold(words, scratch, base)
    base[words[NUMBERS_CELL]] = words[NUMBERS]
    base[words[NUMBERS_CELL] + 1] = outside.PyLong_AsSsize_t(
        (((frame + outside.frame_arena)[0]) + outside.pointer)[0])
    result = 0
    if taken(words, scratch, base):
        if words[STEPS]:
            drive(words, base)
        result = made(words, scratch)
    if outside.PyList_Append(words[FRAMES], frame):
        outside.PyErr_Clear()
    outside.Py_DecRef(frame)
    drop(scratch + 8 * words[HELD_AT], words[INPUTS], scratch, scratch + 8 * words[REGISTERS_AT])
    drop(scratch + 8 * words[REGIONS_AT], words[BUFFERS], 0, 0)
    drop(scratch + 8 * words[BLOCKS_AT], words[BUFFERS], 0, 0)
    outside.Py_DecRef(record)
    return result

def fits(words, args, scratch):
    """Whether the arguments are what a record expects. No Python runs here, so nothing changes meanwhile."""
    registers = scratch + 8 * words[REGISTERS_AT]
    registers[0] = args
    registers[1] = words + 8 * words[KEPT_AT]
    held = scratch + 8 * words[HELD_AT]
    i = 0
    while i < words[INPUTS]:
        held[i] = 0
        i += 1
    guard = words + 8 * words[GUARDS_AT]
    end = guard + GUARD_BYTES * words[GUARDS]
    while guard < end:
        x = (registers[guard[1]])[guard[2]]
        if not x:
            return 0
        if guard[0] == ARRAY:
            if x[1] != outside.array or (x + outside.type)[0] != guard[3]:
                return 0
            if guard[4] >= 0:
                block = (x + outside.owned)[0]
                if not block:
                    return 0
                if block[1] != outside.block:
                    return 0
                held[guard[4]] = block
        elif guard[0] == STATIC:
            if not same(x, guard[3]):
                return 0
        elif guard[0] == SAME:
            if x != guard[3]:
                return 0
        elif guard[0] <= BOOL:
            if not number(x, guard, scratch, held):
                return 0
        else:
            if not opened(x, guard, words, scratch, registers):
                return 0
        guard += GUARD_BYTES
    return 1

def number(x, guard, scratch, held):
    """A Python scalar, put where a kernel can read it."""
    slot = scratch + 8 * guard[5]
    if guard[0] == FLOAT:
        if x[1] != outside.float:
            return 0
        bits = outside.PyFloat_AsDouble(x)
        if guard[3] == 4:
            bits = single(bits)
        slot[0] = bits
    elif guard[0] == INT:
        if x[1] != outside.int:
            return 0
        slot[1] = 0
        value = outside.PyLong_AsLongLongAndOverflow(x, slot + 8)
        if slot[1]:
            return 0
        if guard[3] == 4 and (value < -2147483648 or value > 2147483647):
            return 0
        slot[0] = value
    else:
        if x == outside.true:
            slot[0] = 1
        elif x == outside.false:
            slot[0] = 0
        else:
            return 0
    if guard[4] >= 0:
        held[guard[4]] = slot
    return 1

def opened(x, guard, words, scratch, registers):
    """A container: a register gets the address of its items."""
    if guard[0] == TUPLE:
        if x[1] != guard[3] or x[2] != guard[4]:
            return 0
        registers[guard[5]] = x + outside.tuple_items
        return 1
    if guard[0] == LIST:
        if x[1] != outside.list or x[2] != guard[4]:
            return 0
        registers[guard[5]] = (x + outside.list_items)[0]
        return 1
    if x[1] != outside.dict:
        return 0
    count = guard[4]
    if outside.PyDict_Size(x) != count:
        return 0
    keys = words + 8 * guard[3]
    items = scratch + 8 * guard[6]
    registers[guard[5]] = items
    last = items + 8 * count
    last[0] = 0
    i = 0
    while i < count:
        if not outside.PyDict_Next(x, last, last + 8, last + 16):
            return 0
        if not same(last[1], keys[i]):
            return 0
        items[i] = last[2]
        i += 1
    return 1

def popped(list):
    """The last item of a list, now the caller's; 0 from an empty one."""
    size = list[2]
    if size == 0:
        return 0
    size = size - 1
    list[2] = size
    return ((list + outside.list_items)[0])[size]

def hold(words, scratch, base):
    """Keep the memory of the arguments for the call, and tell the kernels where it is."""
    held = scratch + 8 * words[HELD_AT]
    slots = scratch + 8 * words[REGISTERS_AT]
    i = 0
    while i < words[INPUTS]:
        block = held[i]
        if block == 0 or (block >= scratch and block < slots):
            base[i] = block
        else:
            outside.Py_IncRef(block)
            base[i] = outside.PyLong_AsSsize_t((block + outside.pointer)[0])
        i += 1
    return 0

def taken(words, scratch, base):
    """Memory for the results, from its shelf or, where that is empty, from Python."""
    regions = scratch + 8 * words[REGIONS_AT]
    i = 0
    while i < words[BUFFERS]:
        regions[i] = 0
        (scratch + 8 * words[BLOCKS_AT])[i] = 0
        i += 1
    row = words + 8 * words[BUFFERS_AT]
    i = 0
    while i < words[BUFFERS]:
        region = 0
        if row[0]:
            region = popped(row[0])
        if not region:
            region = outside.PyObject_Vectorcall(outside.find, row + 8, 1, 0)
        if not region:
            return 0
        regions[i] = region
        base[row[2]] = outside.PyLong_AsSsize_t((region + outside.tuple_items)[0])
        row += BUFFER_BYTES
        i += 1
    return 1

def drive(words, base):
    """Run the steps; long ones let other Python threads run meanwhile."""
    if words[HOLD]:
        outside.run(base + words[FIRST_STEP], words[STEPS])
        return 0
    state = outside.PyEval_SaveThread()
    outside.run(base + words[FIRST_STEP], words[STEPS])
    outside.PyEval_RestoreThread(state)
    return 0

def made(words, scratch):
    """The tree of results, or 0 with an exception."""
    values = scratch + 8 * words[VALUES_AT]
    i = 0
    while i < words[VALUES]:
        values[i] = 0
        i += 1
    if blocks_made(words, scratch):
        if assembled(words, scratch, values):
            return values[0]
    drop(values, words[VALUES], 0, 0)
    return 0

def blocks_made(words, scratch):
    """A Block for each result's memory. It can stand in no cycle, so the collector need not look at it."""
    blocks = scratch + 8 * words[BLOCKS_AT]
    regions = scratch + 8 * words[REGIONS_AT]
    row = words + 8 * words[BUFFERS_AT]
    i = 0
    while i < words[BUFFERS]:
        block = outside.block_new(outside.block, 0)
        if not block:
            return 0
        outside.PyObject_GC_UnTrack(block)
        (block + outside.owner)[0] = regions[i]
        start = ((regions[i]) + outside.tuple_items)[0]
        regions[i] = 0
        outside.Py_IncRef(start)
        (block + outside.pointer)[0] = start
        outside.Py_IncRef(row[1])
        (block + outside.size)[0] = row[1]
        outside.Py_IncRef(outside.none)
        (block + outside.window)[0] = outside.none
        blocks[i] = block
        row += BUFFER_BYTES
        i += 1
    return 1

def assembled(words, scratch, values):
    """Arrays and containers, each made of the values before it."""
    top = 0
    step = words + 8 * words[MAKING_AT]
    end = step + MAKING_BYTES * words[MAKING]
    while step < end:
        if step[0] <= GIVEN:
            blocks = scratch + 8 * words[BLOCKS_AT]
            if step[0] == GIVEN:
                blocks = scratch + 8 * words[HELD_AT]
            value = array(step[1], blocks[step[2]])
        elif step[0] == A_NONE:
            value = outside.none
            outside.Py_IncRef(value)
        else:
            top = top - step[2]
            value = composed(step, words, values + 8 * top)
        if not value:
            return 0
        values[top] = value
        top += 1
        step += MAKING_BYTES
    return 1

def array(type, block):
    """An Array of a type over a block."""
    x = outside.array_new(outside.array, 0)
    if not x:
        return 0
    outside.Py_IncRef(type)
    (x + outside.type)[0] = type
    outside.Py_IncRef(block)
    (x + outside.owned)[0] = block
    outside.Py_IncRef(outside.none)
    (x + outside.host)[0] = outside.none
    return x

def composed(step, words, items):
    """A container of the items, which it takes over."""
    count = step[2]
    if step[0] == A_DICT:
        return dict_of(words + 8 * step[1], items, count)
    if step[0] == BUILT:
        value = outside.PyObject_Vectorcall(step[1], items, count, 0)
        if value:
            drop(items, count, 0, 0)
        return value
    if step[0] == A_TUPLE:
        value = outside.PyTuple_New(count)
        if not value:
            return 0
        places = value + outside.tuple_items
    else:
        value = outside.PyList_New(count)
        if not value:
            return 0
        places = (value + outside.list_items)[0]
    i = 0
    while i < count:
        places[i] = items[i]
        items[i] = 0
        i += 1
    return value

def dict_of(keys, items, count):
    value = outside.PyDict_New()
    if not value:
        return 0
    i = 0
    while i < count:
        if outside.PyDict_SetItem(value, keys[i], items[i]):
            outside.Py_DecRef(value)
            return 0
        i += 1
    drop(items, count, 0, 0)
    return value

def drop(items, count, start, end):
    """Let references go; words between start and end are none."""
    i = 0
    while i < count:
        item = items[i]
        items[i] = 0
        if item and (item < start or item >= end):
            outside.Py_DecRef(item)
        i += 1
    return 0

def recycle(self, unused):
    """The METH_NOARGS method __del__ of Block. No interrupt is lost in it: no Python runs but where a shelf is audited."""
    region = (self + outside.owner)[0]
    if region:
        items = region + outside.tuple_items
        shelf = items[3]
        if shelf[2] < outside.PyLong_AsSsize_t(items[4]):
            if outside.PyList_Append(shelf, region):
                return 0
        elif outside.PyLong_AsSsize_t(items[1]) > outside.small_bytes:
            result = outside.PyObject_Vectorcall(outside.keep_large, self + outside.owner, 1, 0)
            if result:
                outside.Py_DecRef(result)
            elif outside.PyErr_ExceptionMatches(outside.interrupt):
                outside.PyErr_Clear()
                outside.PyErr_SetInterrupt()
            else:
                return 0
    outside.Py_IncRef(outside.none)
    return outside.none
'''
