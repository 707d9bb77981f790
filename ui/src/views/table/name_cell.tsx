// A name in a cell: cut at its end by the style, whole in the tooltip; what the search found in it is marked.
import { visibleText } from '../../stand_in/safe';
import { matchOf } from '../../text/match';

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
