import type { Contract, ContractChange } from "./contract.ts";

/** Compares published contracts with what a database serves. */
export function compareContracts(published: Contract[], served: Contract[]): ContractChange[] {
  const changes: ContractChange[] = [];
  for (const contract of published) {
    const actual = served.find(({ schema }) => schema === contract.schema);
    if (actual === undefined) {
      changes.push({
        schema: contract.schema,
        what: "the whole version was removed",
        breaks: "Requests that name it get 406.",
      });
    } else changes.push(...compareSchema(contract, actual));
  }
  for (const { schema } of served) {
    if (!published.some((contract) => contract.schema === schema)) {
      changes.push({ schema, what: "a version without a contract" });
    }
  }
  return changes;
}

function compareSchema(contract: Contract, actual: Contract): ContractChange[] {
  const { schema } = contract;
  const changes: ContractChange[] = [];
  const breaking = (what: string, breaks: string) => changes.push({ schema, what, breaks });
  const additive = (what: string) => changes.push({ schema, what });
  const compareGrants = (what: string, before: string[], after: string[]) => {
    for (const role of before.filter((name) => !after.includes(name)))
      breaking(
        `${what} is no longer granted to ${role}`,
        "Keys of that role get 401 or 403 where they got data.",
      );
    for (const role of after.filter((name) => !before.includes(name)))
      breaking(`${what} is now granted to ${role}`, "Keys see what this version never showed them.");
  };
  compareGrants("the schema", contract.usage, actual.usage);
  for (const [name, view] of Object.entries(contract.views)) {
    const now = actual.views[name];
    if (now === undefined) breaking(`${name} was removed`, `GET /${name} gets 404.`);
    else {
      compareGrants(name, view.select, now.select);
      compareColumns(name, view.columns, now.columns, breaking, additive);
    }
  }
  for (const name of Object.keys(actual.views)) if (!(name in contract.views)) additive(`${name} was added`);
  for (const [signature, { execute, returns }] of Object.entries(contract.functions)) {
    const now = actual.functions[signature];
    if (now === undefined)
      breaking(`the function ${signature} was removed`, describeMissing(signature, actual));
    else {
      compareGrants(`the function ${signature}`, execute, now.execute);
      if (now.returns !== returns)
        breaking(
          `the function ${signature} returns “${now.returns}” in place of “${returns}”`,
          "Clients read the answer in its published form.",
        );
    }
  }
  for (const signature of Object.keys(actual.functions)) {
    if (signature in contract.functions) continue;
    const rival = Object.keys(contract.functions).find((published) => areAmbiguous(published, signature));
    if (rival === undefined) additive(`the function ${signature} was added`);
    else
      breaking(
        `the function ${signature} was added beside ${rival}`,
        "Calls that fit both get 300: PostgREST cannot choose. Give it another name.",
      );
  }
  for (const [name, columns] of Object.entries(contract.types)) {
    const now = actual.types[name];
    if (now === undefined) breaking(`the type ${name} was removed`, "A function's answer loses its fields.");
    else compareColumns(name, columns, now, breaking, additive);
  }
  for (const name of Object.keys(actual.types))
    if (!(name in contract.types)) additive(`the type ${name} was added`);
  return changes;
}

/** Whether a call by names of arguments may mean either of two functions, as pg_get_function_arguments writes them. */
function areAmbiguous(one: string, other: string): boolean {
  const [first, second] = [one, other].map((signature) => {
    const [name, list = ""] = signature.slice(0, -1).split(/\((.*)/s);
    const args = list === "" ? [] : list.split(/, (?=\w+ )/);
    const nameOf = (arg: string) => arg.split(" ")[0] ?? "";
    return {
      name,
      all: args.map(nameOf),
      required: args.filter((arg) => !arg.includes(" DEFAULT ")).map(nameOf),
    };
  });
  if (first === undefined || second === undefined || first.name !== second.name) return false;
  return [...first.required, ...second.required].every(
    (arg) => first.all.includes(arg) && second.all.includes(arg),
  );
}

function describeMissing(signature: string, actual: Contract): string {
  const name = signature.slice(0, signature.indexOf("("));
  const other = Object.keys(actual.functions).find((key) => key.startsWith(`${name}(`));
  return other === undefined
    ? "Calls of it, or requests that embed by it, get 404 or 400."
    : `Calls with the published arguments get 404; there is ${other}.`;
}

type Columns = { name: string; type: string }[];

function compareColumns(
  where: string,
  before: Columns,
  after: Columns,
  breaking: (what: string, breaks: string) => void,
  additive: (what: string) => void,
): void {
  const names = after.map(({ name }) => name);
  const removed = before.filter(({ name }) => !names.includes(name));
  const added = after.filter(({ name }) => !before.some((column) => column.name === name));
  for (const { name } of removed) {
    const place = before.findIndex((column) => column.name === name);
    const successor = after[place];
    const renamed =
      successor !== undefined && added.includes(successor) ? ` (renamed to ${successor.name}?)` : "";
    breaking(
      `${where}.${name} was removed${renamed}`,
      "Requests that select, filter or order by it get 400.",
    );
  }
  for (const { name, type } of before) {
    const now = after.find((column) => column.name === name);
    if (now !== undefined && now.type !== type)
      breaking(
        `${where}.${name} is ${now.type} in place of ${type}`,
        "Clients parse and compare it as what it was.",
      );
  }
  const kept = before.filter(({ name }) => names.includes(name)).map(({ name }) => name);
  const order = names.filter((name) => kept.includes(name));
  if (order.join() !== kept.join()) {
    const moved = order.find((name, index) => name !== kept[index]);
    breaking(`${where}.${moved} stands in another place`, "CSV has its columns in this order.");
  } else if (removed.length === 0) {
    for (const { name } of added) {
      if (names.indexOf(name) < before.length)
        breaking(
          `${where}.${name} was added before the last published column`,
          "CSV has its columns in this order. Add it at the end.",
        );
      else additive(`${where}.${name} was added at the end`);
    }
  }
}
