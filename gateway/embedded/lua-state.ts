import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { LuaWasm } from "wasmoon";

/** Lua's C API as WebAssembly exports it, without the conversions of wasmoon, which cost more than the calls. */
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
 * Runs a Lua file in a state of its own. Its one argument is a function that makes the SHA-256 of a text in hexadecimal
 * digits; it returns a function from texts to a text. Texts have one character a byte.
 * @throws Error with Lua's message; so does the function.
 */
export async function runLua(source: string): Promise<(...args: string[]) => string> {
  // The file is beside wasmoon's own, wherever this program is compiled to.
  const wasm = await LuaWasm.initialize(createRequire(import.meta.url).resolve("wasmoon/dist/glue.wasm"));
  const lua = wasm.module as unknown as Lua;
  const state = wasm.luaL_newstate();
  wasm.luaL_openlibs(state);
  const sizePointer = lua._malloc(4);
  let room = 65_536;
  let scratch = lua._malloc(room);
  let memory = Buffer.from(lua.HEAPU8.buffer);

  // The memory is another one once it has grown.
  const look = () => {
    if (memory.buffer !== lua.HEAPU8.buffer) memory = Buffer.from(lua.HEAPU8.buffer);
    return memory;
  };
  const push = (text: string) => {
    if (text.length > room) {
      lua._free(scratch);
      room = text.length * 2;
      scratch = lua._malloc(room);
    }
    look().write(text, scratch, "latin1");
    lua._lua_pushlstring(state, scratch, text.length);
  };
  const read = (index: number) => {
    const start = lua._lua_tolstring(state, index, sizePointer);
    return start === 0 ? Buffer.alloc(0) : look().subarray(start, start + look().readUInt32LE(sizePointer));
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
