// A name in a cell: cut at its end by the style, whole in the tooltip; what the search found in it is marked.

import { matchOf } from '../../text/match';
import { visibleText } from '../../text/safe';

export function NameCell({ name, search }: { name: string; search: string }) {
  const text = visibleText(name);
  const match = matchOf(search);
  const isFound = !match.empty && match.test(name);
  return (
    <span class="grid-name" title={text}>
      {isFound ? <mark class="grid-found">{text}</mark> : text || '(no name)'}
    </span>
  );
}
