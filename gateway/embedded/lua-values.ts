/** A value for Lua or from it. Each character of a string is a byte. Lua's tables have strings as keys. */
export type LuaValue =
  | undefined
  | null
  | boolean
  | number
  | string
  | LuaFunction
  | readonly LuaValue[]
  | { readonly [field: string]: LuaValue };
export type LuaFunction = (...args: LuaValue[]) => LuaValue;

type ApiFunction =
  | `_lua_${"createtable" | "gettop" | "next" | "pcallk" | "pushboolean" | "pushcclosure" | "pushinteger"}`
  | `_lua_${"pushlstring" | "pushnil" | "pushnumber" | "pushvalue" | "rawset"}`
  | `_lua_${"settop" | "toboolean" | "tolstring" | "tonumberx" | "type"}`
  | "_malloc"
  | "_free";
/** Lua's C API as wasmoon exports it. Lua's 64-bit integers are BigInt. */
export type LuaApi = Record<ApiFunction, (...args: (number | bigint)[]) => number> & {
  HEAPU8: Uint8Array;
  addFunction(call: (state: number) => number, signature: string): number;
};

const BOOLEAN = 1;
const NUMBER = 3;
const STRING = 4;
const TABLE = 5;

/**
 * Converts values through Lua's C API, because wasmoon's own conversions are slow and turn bytes into UTF-8.
 * `pushValue` puts a value on Lua's stack, and `readValue` reads the one at an index, counted from 1.
 */
export function createConverter(lua: LuaApi, main: number) {
  /** Lua's state: while a coroutine calls a function, the coroutine's. */
  let state = main;
  const sizePointer = lua._malloc(4);
  let memory = Buffer.from(lua.HEAPU8.buffer);
  /** WebAssembly replaces its buffer when its memory grows. */
  const readMemory = () => {
    if (memory.buffer !== lua.HEAPU8.buffer) memory = Buffer.from(lua.HEAPU8.buffer);
    return memory;
  };

  function pushString(text: string): void {
    const start = lua._malloc(text.length + 1);
    readMemory().write(text, start, "latin1");
    lua._lua_pushlstring(state, start, text.length);
    lua._free(start);
  }

  function pushFunction(call: LuaFunction): void {
    const run = (caller: number) => {
      const outer = state;
      state = caller;
      const args = Array.from({ length: lua._lua_gettop(state) }, (_, n) => readValue(n + 1));
      pushValue(call(...args));
      state = outer;
      return 1;
    };
    lua._lua_pushcclosure(state, lua.addFunction(run, "ii"), 0);
  }

  function pushTable(table: object): void {
    lua._lua_createtable(state, 0, 0);
    for (const [name, value] of Object.entries(table)) {
      pushValue(Array.isArray(table) ? Number(name) + 1 : name);
      pushValue(value);
      lua._lua_rawset(state, -3);
    }
  }

  function pushValue(value: LuaValue): void {
    if (typeof value === "string") pushString(value);
    else if (typeof value === "boolean") lua._lua_pushboolean(state, Number(value));
    else if (typeof value === "function") pushFunction(value);
    else if (value === undefined || value === null) lua._lua_pushnil(state);
    else if (typeof value === "object") pushTable(value);
    else if (Number.isSafeInteger(value)) lua._lua_pushinteger(state, BigInt(value));
    else lua._lua_pushnumber(state, value);
  }

  function readString(index: number): string {
    const start = lua._lua_tolstring(state, index, sizePointer);
    const bytes = readMemory();
    return bytes.toString("latin1", start, start + bytes.readUInt32LE(sizePointer));
  }

  function readTable(index: number): LuaValue {
    const fields: Record<string, LuaValue> = {};
    lua._lua_pushnil(state);
    while (lua._lua_next(state, index)) {
      const top = lua._lua_gettop(state);
      fields[String(readValue(top - 1))] = readValue(top);
      lua._lua_settop(state, -2);
    }
    return fields;
  }

  function readValue(index: number): LuaValue {
    const type = lua._lua_type(state, index);
    if (type === STRING) return readString(index);
    if (type === NUMBER) return lua._lua_tonumberx(state, index, 0);
    if (type === BOOLEAN) return lua._lua_toboolean(state, index) === 1;
    return type === TABLE ? readTable(index) : undefined;
  }

  return { pushValue, readValue };
}
