// A number with a bar behind it. `part` is a share from 0 to 1.
export function Bar({ text, part, tone = '' }: { text: string; part: number; tone?: '' | 'more' | 'less' }) {
  const width = Number.isFinite(part) ? Math.min(1, Math.max(0, part)) * 100 : 0;
  return (
    <span class={tone ? `grid-bar grid-${tone}` : 'grid-bar'} style={{ '--part': `${width.toFixed(2)}%` }}>
      <span>{text}</span>
    </span>
  );
}
