import { runStack } from "./run-stack.ts";

/** Starts one stack for the whole run, unless BASE_URL names a deployment to test. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.API_URL) return undefined;
  const stack = await runStack();
  Object.assign(process.env, {
    API_URL: stack.facts.base_url,
    APP_URL: stack.facts.app_url,
    DATABASE_URL: stack.facts.database_url,
    POSTGREST_URL: stack.facts.postgrest_url,
    DEMO_KEY: stack.facts.keys.demo,
    INDIVIDUAL_KEY: stack.facts.keys.individual,
    TRIBAL_KEY: stack.facts.keys.tribal,
  });
  return stack.dispose;
}
