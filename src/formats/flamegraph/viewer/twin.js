// What a screen reader sees of the canvas: the focused frame, its parent, its siblings nearby and its first
// children, as items of a tree.

const NEIGHBOURS = 5;
const CHILDREN = 10;

function updateTwin(stage, list, target, describe) {
  const { panel, node } = target;
  const { tree } = panel;
  const parent = tree.parent[node];
  const first = node === 0 ? 0 : tree.firstChild[parent];
  const count = node === 0 ? 1 : tree.childCount[parent];
  const items = [];
  const add = (i, position, size) => {
    const item = document.createElement('li');
    item.id = `item${i}`;
    item.role = 'treeitem';
    item.ariaLevel = tree.depth[i] + 1;
    item.ariaPosInSet = position + 1;
    item.ariaSetSize = size;
    item.ariaSelected = i === node;
    if (tree.childCount[i] > 0) item.ariaExpanded = 'true';
    item.textContent = describe(panel, i);
    items.push(item);
  };
  if (node !== 0) {
    const siblings = parent === 0 ? 1 : tree.childCount[tree.parent[parent]];
    add(parent, parent === 0 ? 0 : parent - tree.firstChild[tree.parent[parent]], siblings);
  }
  for (let i = Math.max(first, node - NEIGHBOURS); i <= Math.min(first + count - 1, node + NEIGHBOURS); i++) {
    add(i, i - first, count);
  }
  for (let k = 0; k < Math.min(CHILDREN, tree.childCount[node]); k++) {
    add(tree.firstChild[node] + k, k, tree.childCount[node]);
  }
  list.replaceChildren(...items);
  stage.setAttribute('aria-activedescendant', `item${node}`);
}
