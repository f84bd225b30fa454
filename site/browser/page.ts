import { addCopyButtons } from "./copy-buttons.ts";

document.documentElement.classList.add("is-scripted");
addCopyButtons(document);
