import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { LuaWasm } from "wasmoon";

/** Lua's C API as WebAssembly exports it, without the conversions of wasmoon, which cost more than the calls. */
interface LuaExports {
  HEAPU8: Uint8Array;
  addFunction(call: (state: number) => number, signature: string): number;
  _malloc(size: number): number;
  _free(pointer: number): void;
  _luaL_newstate(): number;
  _luaL_openlibs(state: number): void;
  _luaL_loadbufferx(state: number, source: number, size: number, name: number, mode: number): number;
  _lua_pcallk(
    state: number,
    args: number,
    results: number,
    handler: number,
    context: number,
    k: number,
  ): number;
  _lua_pushlstring(state: number, text: number, size: number): void;
  _lua_pushcclosure(state: number, call: number, values: number): void;
  _lua_pushvalue(state: number, index: number): void;
  _lua_tolstring(state: number, index: number, size: number): number;
  _lua_settop(state: number, index: number): void;
}

/** Calls the function that a Lua file returned. Texts have one character a byte. */
export type LuaFunction = (...args: string[]) => string;

/**
 * Runs a Lua file in a state of its own. The file gets one argument, a function that makes the SHA-256 of a text in
 * hexadecimal digits, and returns a function from texts to a text.
 * @throws Error with Lua's message; so does the function.
 */
export async function runLua(source: string): Promise<LuaFunction> {
  // The file is beside wasmoon's own, wherever this program is compiled to.
  const wasm = await LuaWasm.initialize(createRequire(import.meta.url).resolve("wasmoon/dist/glue.wasm"));
  const lua = wasm.module as unknown as LuaExports;
  const state = lua._luaL_newstate();
  lua._luaL_openlibs(state);
  const sizePointer = lua._malloc(4);
  let room = 65_536;
  let scratch = lua._malloc(room);
  let memory = Buffer.from(lua.HEAPU8.buffer);

  // The memory is another one once it has grown.
  const look = () => {
    if (memory.buffer !== lua.HEAPU8.buffer) memory = Buffer.from(lua.HEAPU8.buffer);
    return memory;
  };
  const write = (text: string) => {
    if (text.length > room) {
      lua._free(scratch);
      room = text.length * 2;
      scratch = lua._malloc(room);
    }
    look().write(text, scratch, "latin1");
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
  const push = (text: string) => {
    write(text);
    lua._lua_pushlstring(state, scratch, text.length);
  };

  write(source);
  if (lua._luaL_loadbufferx(state, scratch, source.length, scratch, 0)) throw new Error(read(-1).toString());
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
