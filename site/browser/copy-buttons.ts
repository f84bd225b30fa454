import { copyText } from "./copy-text.ts";

/** Adds the copy buttons of commands that the server has written. Their place is kept by the style sheet. */
export function addCopyButtons(root: ParentNode): void {
  for (const command of root.querySelectorAll<HTMLElement>("[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small plain";
    button.textContent = "Copy";
    const label = `Copy: ${command.dataset.copy}`;
    button.setAttribute("aria-label", label);
    const said = document.createElement("span");
    said.setAttribute("role", "status");
    said.className = "hint copied";
    button.addEventListener("click", async () => {
      const isDone = await copyText(command.querySelector("pre")?.textContent ?? "");
      said.textContent = isDone ? "Copied." : "Select the text and copy it.";
    });
    command.append(button, said);
  }
}
