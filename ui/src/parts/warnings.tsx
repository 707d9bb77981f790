// What makes an answer doubtful, as the server says it: few samples, sides that do not cover the same.
import type { Warning } from '../api/types';
import { visibleText } from '../text/safe';

function sentence(text: string): string {
  const visible = visibleText(text);
  return `${visible.charAt(0).toUpperCase()}${visible.slice(1)}${/[.!?]$/.test(visible) ? '' : '.'}`;
}

export function Warnings({ of }: { of: { warnings?: readonly Warning[] } | undefined }) {
  return (
    <>
      {(of?.warnings ?? []).map(({ code, text }) => (
        <p key={`${code} ${text}`} class="warning" role="note" data-code={code}>
          <span aria-hidden="true">⚠ </span>
          {sentence(text)}
        </p>
      ))}
    </>
  );
}
