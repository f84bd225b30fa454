import { LuaWasm } from "wasmoon";
import { createConverter, type LuaApi, type LuaFunction, type LuaValue } from "./lua-values.ts";

/**
 * Runs a Lua file in its own Lua state. The file receives `host` as its argument, and must return a function.
 * @throws Error with Lua's message. The returned function throws such errors too.
 */
export async function runLua(source: string, host: LuaValue = {}): Promise<LuaFunction> {
  const wasm = await LuaWasm.initialize();
  const lua = wasm.module as unknown as LuaApi;
  const state = wasm.luaL_newstate();
  wasm.luaL_openlibs(state);
  const { pushValue, readValue } = createConverter(lua, state);

  /** Calls the function below the arguments, and leaves its result on the stack. */
  const callWith = (args: LuaValue[]) => {
    for (const arg of args) pushValue(arg);
    const hasFailed = lua._lua_pcallk(state, args.length, 1, 0, 0, 0);
    if (hasFailed) throw new Error(String(readValue(lua._lua_gettop(state))));
  };

  if (wasm.luaL_loadstring(state, source)) throw new Error(String(readValue(1)));
  callWith([host]);
  return (...args) => {
    lua._lua_pushvalue(state, 1);
    try {
      callWith(args);
      return readValue(2);
    } finally {
      lua._lua_settop(state, 1);
    }
  };
}
