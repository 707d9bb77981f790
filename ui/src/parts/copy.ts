// Text to the clipboard. Pages that come over plain HTTP have no clipboard of their own: the old way works there.
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = document.createElement('textarea');
    box.value = text;
    box.className = 'hidden-text';
    const before = document.activeElement as HTMLElement | null;
    document.body.append(box);
    box.select();
    const done = document.execCommand('copy');
    box.remove();
    before?.focus();
    return done;
  }
}
