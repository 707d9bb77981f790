// The state of the page, kept in the hash of its address: a link or a reload shows the same view, and the
// browser's back button undoes a step.

const DEFAULT_STATE = {
  view: 'flame', // or 'table'
  mode: 'down', // or 'up', 'sandwich'
  pivot: '', // the function of a sandwich
  zoom: '', // path of the zoomed frame, from the root; "<" before it in the callers of a sandwich
  query: '',
  collapse: false,
  flip: false,
  theme: 'auto',
  sort: '',
};

// Names are written as short hashes: they may be long, and a link should survive a new recording.
function nameKey(name) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  return hash.toString(36);
}

function stateToHash(state, defaults) {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) {
    if (value !== defaults[key]) parts.set(key, value === true ? '1' : value === false ? '0' : value);
  }
  return parts.toString();
}

function hashToState(hash, defaults) {
  const state = { ...defaults };
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ''))) {
    if (!(key in defaults)) continue;
    state[key] = typeof defaults[key] === 'boolean' ? value === '1' : value;
  }
  const allowed = { view: ['flame', 'table'], mode: ['down', 'up', 'sandwich'], theme: ['auto', 'light', 'dark'] };
  for (const [key, values] of Object.entries(allowed)) {
    if (!values.includes(state[key])) state[key] = defaults[key];
  }
  return state;
}

// Calls `apply(state)` for every change, ours or the browser's.
class StateKeeper {
  constructor(defaults, apply) {
    this.defaults = defaults;
    this.apply = apply;
    this.steps = 0;
    this.state = hashToState(location.hash, defaults);
    window.addEventListener('hashchange', () => {
      if (location.hash.replace(/^#/, '') === stateToHash(this.state, defaults)) return;
      this.state = hashToState(location.hash, defaults);
      this.apply(this.state);
    });
  }

  // `replace` for typing and switches, a new step of the history for navigation.
  change(patch, replace = false) {
    const next = { ...this.state, ...patch };
    const hash = stateToHash(next, this.defaults);
    if (hash === stateToHash(this.state, this.defaults)) return;
    this.state = next;
    if (replace) {
      location.replace(`#${hash}`);
    } else {
      this.steps++;
      location.hash = hash;
    }
    this.apply(next);
  }

  undo() {
    if (this.steps === 0) return;
    this.steps--;
    history.back();
  }
}
