// What every page has: the buttons that copy.

document.documentElement.classList.add("is-scripted");

document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element && target.closest<HTMLElement>("button[data-copy]");
  if (!button) return;
  const text = button.dataset.copy || button.parentElement?.querySelector("pre")?.textContent || "";
  const status = button.nextElementSibling;
  const isCopied = await copyText(text);
  if (status === null) return;
  status.textContent = isCopied ? "Copied." : "Select the text and copy it.";
  setTimeout(() => {
    status.textContent = "";
  }, 5000);
});

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without HTTPS a page has no clipboard, but it may copy a selection.
    const focused = document.activeElement;
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "visually-hidden";
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return isCopied;
  }
}
