// Until text/safe.ts is here.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach the page
const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function visibleText(name: string): string {
  return name.replace(controls, (found) => {
    const code = found.charCodeAt(0);
    return code < 32 ? String.fromCharCode(0x2400 + code) : '\ufffd';
  });
}
