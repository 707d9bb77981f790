// What has the focus may go away with the view, pane or row that it belonged to. The keyboard then goes on at the start of
// the content, not of the page.
export function keepFocus() {
  let last: Element | null = null;
  document.addEventListener('focusin', (event) => {
    last = event.target as Element;
  });
  new MutationObserver(() => {
    if (!last || last.isConnected || document.activeElement !== document.body) return;
    last = null;
    document.getElementById('main')?.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true });
}
