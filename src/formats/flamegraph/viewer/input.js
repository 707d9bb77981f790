// Pointer and keys. Translates them into calls of the application; holds no state of its own but the drag.

const KEYS = [
  ['/ or Ctrl-F', 'search: part of a name, or /regular expression/i'],
  ['n, N', 'next, previous match'],
  ['arrow keys', 'walk: parent, child, neighbours'],
  ['Enter, click', 'zoom into the frame'],
  ['Backspace', 'undo the last step'],
  ['Esc', 'clear the search, then zoom out one level'],
  ['0', 'reset the zoom'],
  ['i', 'bottom-up and back'],
  ['s', 'sandwich: callers and callees of the focused function'],
  ['r', 'collapse recursion'],
  ['v', 'flip: root on top or at the bottom'],
  ['1, 2', 'flame graph, table'],
  ['Ctrl-wheel, drag', 'zoom and pan freely'],
  ['Ctrl-C', 'copy the name of the focused frame'],
  ['y', 'copy a link to this view'],
  ['l', 'light, dark, as the system'],
  ['?', 'this list'],
];

const DRAG_THRESHOLD = 4;

function bindPointer(stage, app) {
  let drag = null;
  stage.addEventListener('pointermove', (event) => {
    if (drag && Math.abs(event.clientX - drag.x) > DRAG_THRESHOLD) drag.moved = true;
    if (drag?.moved) {
      app.panBy(drag.panel, drag.last - event.clientX);
      drag.last = event.clientX;
      return;
    }
    app.hoverAt(event.clientX, event.clientY);
  });
  stage.addEventListener('pointerleave', () => app.hoverAt(-1, -1));
  stage.addEventListener('pointerdown', (event) => {
    const target = app.targetAt(event.clientX, event.clientY);
    if (event.button !== 0 || !target) return;
    drag = { x: event.clientX, last: event.clientX, moved: false, panel: target.panel };
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener('pointerup', (event) => {
    const wasDrag = drag?.moved;
    const started = drag !== null;
    drag = null;
    if (!started || wasDrag) return;
    const target = app.targetAt(event.clientX, event.clientY);
    if (target) app.zoomTo(target);
  });
  stage.addEventListener('pointercancel', () => { drag = null; });
  stage.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    app.scaleAt(event.clientX, event.clientY, Math.exp(event.deltaY * 0.002));
  }, { passive: false });
}

function bindKeys(app) {
  const actions = {
    n: () => app.nextMatch(1), N: () => app.nextMatch(-1), Enter: () => app.zoomTo(app.focus),
    Backspace: () => app.keeper.undo(), 0: () => app.resetZoom(), i: () => app.toggleInverted(),
    s: () => app.sandwichFocused(), r: () => app.toggle('collapse'), v: () => app.toggle('flip'),
    1: () => app.keeper.change({ view: 'flame' }), 2: () => app.keeper.change({ view: 'table' }),
    y: () => app.copyLink(), l: () => app.nextTheme(), '?': () => app.openHelp(), '/': () => app.openSearch(),
    ArrowUp: () => app.walk('up'), ArrowDown: () => app.walk('down'),
    ArrowLeft: () => app.walk('left'), ArrowRight: () => app.walk('right'),
  };
  document.addEventListener('keydown', (event) => {
    const control = event.ctrlKey || event.metaKey;
    if (control && event.key === 'f') {
      event.preventDefault();
      app.openSearch();
      return;
    }
    if (control || event.altKey || document.querySelector('dialog[open]')) return;
    if (event.key === 'Escape') {
      app.escape();
      return;
    }
    const { target } = event;
    if (target instanceof HTMLInputElement) {
      if (event.key === 'Enter') app.nextMatch(event.shiftKey ? -1 : 1);
      return;
    }
    // Buttons keep Enter, the table keeps its arrows.
    const onStage = target === app.stage || target === document.body;
    if (!onStage && (event.key === 'Enter' || event.key.startsWith('Arrow'))) return;
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : null;
    if (!action) return;
    event.preventDefault();
    action();
  });
  document.addEventListener('copy', (event) => {
    if (!getSelection().isCollapsed || event.target instanceof HTMLInputElement) return;
    event.clipboardData.setData('text/plain', app.focusedName());
    event.preventDefault();
    app.announce('Name copied');
  });
}
