// How much of a name a box can show; flame_label.cc does the same for the still picture.

const FEWEST_COLUMNS = 3;
const COLUMNS_FOR_WORDS = 14;

function fitLabel(name, shortName, columns) {
  if (columns < FEWEST_COLUMNS) return '';
  if (name.length <= columns) return name;
  if (shortName.length <= columns) return shortName;
  const path = shortName.slice(0, shortName.search(/[ ([]|$/));
  let last = 0;
  for (const cut of path.matchAll(/(::|\/|\.)(?=[^:/.])/g)) {
    last = cut.index + cut[0].length;
    if (shortName.length - last <= columns) return shortName.slice(last);
  }
  return `${[...shortName.slice(last, last + 2 * columns)].slice(0, columns - 1).join('')}…`;
}

// change: '' | 'new' | 'gone', for frames that only one side of a difference has
function fitChangedLabel(name, shortName, change, columns) {
  if (change === '') return fitLabel(name, shortName, columns);
  if (columns < 1) return '';
  const mark = columns >= COLUMNS_FOR_WORDS ? `[${change}] ` : change === 'new' ? '+' : '-';
  return mark + fitLabel(name, shortName, columns - mark.length);
}

function changeOf(before, after) {
  return before === 0 && after !== 0 ? 'new' : before !== 0 && after === 0 ? 'gone' : '';
}
