import { readdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { project, readCompose, readProjectFile } from "../compose/read-compose.ts";

const directory = "deploy/kubernetes";
const files = readdirSync(path.join(project, directory), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => path.join(directory, name));

test.each(files)("%s is YAML, and each document has a kind", (file) => {
  for (const document of parseAllDocuments(readProjectFile(file))) {
    expect(document.errors).toEqual([]);
    expect(document.toJS()).toMatchObject({ apiVersion: expect.any(String), kind: expect.any(String) });
  }
});

test("the images are those of docker-compose.yml, except PostgreSQL's, which is CloudNativePG's", () => {
  const { services } = readCompose();
  const inCompose = Object.values(services).flatMap(({ image, build }) => [
    image,
    ...(typeof build === "object"
      ? [...build.dockerfile_inline.matchAll(/(?:^FROM )(\S+)/gm)].map(([, from]) => from)
      : []),
  ]);
  const known = inCompose.map((image = "") => image.replace(/\$\{\w+:-([^}]+)\}/, "$1"));
  for (const file of files) {
    for (const [, image = ""] of readProjectFile(file).matchAll(/^ +image: (\S+)$/gm)) {
      if (image !== "single-audit") expect(known, file).toContain(image);
    }
  }
});

test("every file of the Secret that a pod mounts is made by create-secrets.sh", () => {
  const made =
    readProjectFile("scripts/compose-secrets.ts") + readProjectFile(`${directory}/create-secrets.sh`);
  for (const file of files) {
    for (const [, key = ""] of readProjectFile(file).matchAll(/\{ key: (\w+), path: \w+ \}/g)) {
      expect(made, `${file}: ${key}`).toContain(key);
    }
  }
});
