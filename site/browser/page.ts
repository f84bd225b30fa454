// Runs on every page: makes the copy buttons work.

document.documentElement.classList.add("is-scripted");

document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element && target.closest<HTMLElement>("button[data-copy]");
  if (!button) return;
  const text = button.dataset.copy || button.parentElement?.querySelector("pre")?.textContent || "";
  const status = button.nextElementSibling;
  if (status === null) return;
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = "Copied.";
  } catch {
    status.textContent = "Copying failed. Copy the text by hand.";
  }
  setTimeout(() => {
    status.textContent = "";
  }, 5000);
});
