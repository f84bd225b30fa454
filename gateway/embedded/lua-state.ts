import { createHash } from "node:crypto";
import { LuaWasm } from "wasmoon";

/** Exported functions of Lua's C API, used because wasmoon's own conversions take longer than the calls. */
type Exported =
  | "_malloc"
  | "_free"
  | "_lua_pcallk"
  | "_lua_pushlstring"
  | "_lua_pushcclosure"
  | "_lua_tolstring";
type Lua = Record<Exported | "_lua_pushvalue" | "_lua_settop", (...args: number[]) => number> & {
  HEAPU8: Uint8Array;
  addFunction(call: () => number, signature: string): number;
};

/**
 * Runs a Lua file in its own Lua state. The file receives a function that returns a string's SHA-256 in hexadecimal,
 * and must return a function that turns strings into a string. Each character of a string is a byte.
 * @throws Error with Lua's message. The returned function throws such errors too.
 */
export async function runLua(source: string): Promise<(...args: string[]) => string> {
  const wasm = await LuaWasm.initialize();
  const lua = wasm.module as unknown as Lua;
  const state = wasm.luaL_newstate();
  wasm.luaL_openlibs(state);
  const sizePointer = lua._malloc(4);

  // WebAssembly replaces its buffer when its memory grows, so each access reads HEAPU8 again.
  const push = (text: string) => {
    const start = lua._malloc(text.length + 1);
    Buffer.from(lua.HEAPU8.buffer, start).write(text, "latin1");
    lua._lua_pushlstring(state, start, text.length);
    lua._free(start);
  };
  const read = (index: number) => {
    const start = lua._lua_tolstring(state, index, sizePointer);
    const memory = Buffer.from(lua.HEAPU8.buffer);
    return start === 0 ? Buffer.alloc(0) : memory.subarray(start, start + memory.readUInt32LE(sizePointer));
  };
  const call = (args: number) => {
    const failed = lua._lua_pcallk(state, args, 1, 0, 0, 0);
    const result = read(-1).toString("latin1");
    if (failed) throw new Error(result);
    return result;
  };

  if (wasm.luaL_loadstring(state, source)) throw new Error(read(-1).toString());
  const hash = lua.addFunction(() => {
    push(createHash("sha256").update(read(1)).digest("hex"));
    return 1;
  }, "ii");
  lua._lua_pushcclosure(state, hash, 0);
  call(1);
  return (...args) => {
    lua._lua_pushvalue(state, 1);
    for (const text of args) push(text);
    try {
      return call(args.length);
    } finally {
      lua._lua_settop(state, 1);
    }
  };
}
