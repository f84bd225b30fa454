// Stands in for docker in on-docker.test.ts. It reads .env, the environment and the compose files as Compose does. Volumes
// are files: each has the volume's name and holds its project's label. As in Compose, `down` ignores the labels.
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const [state, ...words] = process.argv.slice(2);
const volumes = `${state}/volumes`;
const label = "label=com.docker.compose.project=";
const record = (...entries) => appendFileSync(`${state}/record`, `${entries.join(" ")}\n`);
const remove = (name) => rmSync(`${volumes}/${name}`, { force: true });

const [first, second] = words;
if (first === "compose") await compose(words.slice(second === "--progress" ? 3 : 1));
if (first === "inspect") console.log("127.0.0.1");
if (first === "volume" && second === "ls") {
  const project = words.find((word) => word.startsWith(label))?.slice(label.length);
  for (const name of readdirSync(volumes)) {
    if (project === undefined || readFileSync(`${volumes}/${name}`, "utf8") === project) console.log(name);
  }
}
if (first === "volume" && second === "rm") words.slice(2).forEach(remove);

async function compose([command, ...options]) {
  const environment = { ...readEnvFile(), ...process.env };
  environment.COMPOSE_PROJECT_NAME ??= "single-audit";
  const project = environment.COMPOSE_PROJECT_NAME;
  if (command === "restart" && options.includes("postgres")) writeFileSync(`${state}/restarted`, "");
  // Containers get new names if the image has another file.
  if (command === "ps") console.log(project, existsSync("scripts/changed-by-test-compose"));
  if (options.join(" ").includes("count(*)")) console.log("1");
  if (!["build", "config", "down", "run", "up"].includes(command)) return;

  const { names, images } = await readModel(environment);
  if (command === "config") {
    const entries = names.map((name) => [name, { name }]);
    console.log(JSON.stringify({ volumes: Object.fromEntries(entries) }));
  }
  if (command === "build" || options.includes("--build")) for (const image of images) record("builds", image);
  if (command === "up" || command === "run") {
    for (const name of names) {
      record("uses", name);
      if (!existsSync(`${volumes}/${name}`)) writeFileSync(`${volumes}/${name}`, project);
    }
  }
  if (command === "down") names.forEach(remove);
  if (command === "up" && existsSync(`${state}/hangs`)) await new Promise((end) => setTimeout(end, 60_000));
  if (options.includes("request")) console.log('  "id": "1",');
  const fails = options.includes("migrate") && existsSync("db/migrations/29990101000000000_fail.sql");
  if (fails) process.exitCode = 1;
}

function readEnvFile() {
  if (!existsSync(".env")) return {};
  const lines = readFileSync(".env", "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split("=")));
}

/** The names of all volumes, and the images that are built. */
async function readModel(environment) {
  const { parse } = await import("yaml");
  const { COMPOSE_FILE = "docker-compose.yml", COMPOSE_PROJECT_NAME } = environment;
  const names = [];
  const images = [];
  for (const file of COMPOSE_FILE.split(":")) {
    const text = interpolate(readFileSync(file, "utf8"), environment);
    const model = parse(text, { merge: true, logLevel: "silent" });
    for (const [key, volume] of Object.entries(model.volumes ?? {})) {
      names.push(volume?.name ?? `${COMPOSE_PROJECT_NAME}_${key}`);
    }
    for (const { build, image } of Object.values(model.services)) if (build && image) images.push(image);
  }
  return { names, images };
}

/** Substitutes from the inside out, because a default may hold a variable. */
function interpolate(text, environment) {
  const next = text.replace(
    /\$\{(\w+)(?::-([^${}]*))?\}/g,
    (_, name, other = "") => environment[name] || other,
  );
  return next === text ? text : interpolate(next, environment);
}
