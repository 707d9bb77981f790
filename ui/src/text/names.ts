// Function names made short enough to read in a bar: C++ without return type, template arguments, parameters and ABI
// tags, Rust without hashes, Go and Java without the path of the package. The full name stays where there is room.
import { visibleText } from './safe';

export type NameKind = number; // as in docs/formats/flame-columns.md

export const kindNames = [
  'unknown',
  'native',
  'kernel',
  'go',
  'rust',
  'jvm',
  'cpython',
  'v8js',
  'ruby',
  'php',
  'perl',
  'dotnet',
  'beam',
  'luajit',
] as const;

const most = 4096; // characters that are looked at: names of hostile length cost no more

const opens: Record<string, string> = { '<': '>', '(': ')', '[': ']', '{': '}' };

// Whether the '<' or '>' at `at` is a part of an operator's name: operator<<, operator->, operator<=>.
function inOperator(name: string, at: number): boolean {
  const before = name.slice(Math.max(0, at - 12), at);
  return (name[at] === '<' ? /(?:^|\W)operator<?$/ : /(?:^|\W)operator(?:>|-|<=)?$/).test(before);
}

// Everything between brackets of these kinds goes, at any depth. Brackets that do not fit are left as they are.
function withoutBrackets(name: string, open: '<' | '('): string {
  if (!name.includes(open)) return name;
  const close = opens[open];
  let depth = 0;
  let out = '';
  let from = 0; // of what is kept next
  for (let at = 0; at < name.length; at++) {
    const c = name[at];
    if (c === open && !(open === '<' && inOperator(name, at))) {
      if (depth++ === 0) out += name.slice(from, at);
    } else if (c === close && depth > 0 && !(open === '<' && (inOperator(name, at) || name[at - 1] === '-'))) {
      if (--depth === 0) from = at + 1;
    }
  }
  return depth === 0 ? out + name.slice(from) : name;
}

// "std::vector<int>::push_back(int&&)" → "std::vector::push_back"
function shortCpp(name: string): string {
  let text = name.replace(/\[abi:[^\]]*\]/g, '').replace(/ ?\[clone [^\]]*\]/g, '');
  text = text.replace(/\.(?:cold|part|constprop|isra|lto_priv|llvm)(?:\.\d+)*(?=$|\s)/g, '');
  text = text
    .replace(/\(anonymous namespace\)/g, '{anon}')
    .replace(/\{lambda\([^{}]*\)#(\d+)\}/g, '{lambda#$1}')
    .replace(/\{lambda[^{}#]*\}/g, '{lambda}')
    .replace(/decltype ?\((?:[^()]|\([^()]*\))*\)/g, 'decltype');
  const call = text.includes('operator()');
  if (call) text = text.replace(/operator\(\)/g, 'operator\u0001');
  text = withoutBrackets(text, '<');
  // "int (*pick(int))(char)" and the like have no parameter list that could be taken away safely.
  if (!/\(\s*[*&]/.test(text)) text = withoutBrackets(text, '(');
  text = text.replace(/(?:\s+(?:const|volatile|noexcept|&&?|\[\[.*\]\]))+\s*$/, '').trim();
  // The return type is what stands before the last space outside of brackets, unless that belongs to an operator.
  const operator = /(?:^|\s|::)operator\b/.exec(text);
  const end = operator ? operator.index : text.length;
  const space = text.lastIndexOf(' ', end - (operator && text[operator.index] === ' ' ? 0 : 1));
  if (space >= 0 && space < text.length - 1 && !/[([{]/.test(text.slice(0, space))) text = text.slice(space + 1);
  return text.replaceAll('\u0001', '()').trim() || name;
}

// "core::ptr::drop_in_place<T>::h0123456789abcdef" → "core::ptr::drop_in_place"
function shortRust(name: string): string {
  let text = name.replace(/::h[0-9a-f]{16}$/, '').replace(/\.llvm\.\d+$/, '');
  // "<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend" → "alloc::vec::Vec::extend"
  const as = /^<(.+?) as .+>::([^>]+)$/.exec(text);
  if (as) text = `${as[1]}::${as[2]}`;
  else if (/^<[^<>]+(<.*>)?>::/.test(text)) text = text.replace(/^<(.*)>::([^>]*)$/, '$1::$2');
  return withoutBrackets(text, '<').replace(/::(?=::)/g, '') || name;
}

// "github.com/acme/shop/cart.(*Store).Add" → "cart.(*Store).Add"
function shortGo(name: string): string {
  const text = name.replace(/\[(?:go\.shape\..*|\.\.\.)\]/g, '');
  const receiver = text.indexOf('(');
  const slash = text.lastIndexOf('/', receiver < 0 ? text.length : receiver);
  return text.slice(slash + 1).replace(/%2e/gi, '.') || name;
}

// "java/util/concurrent/ThreadPoolExecutor.runWorker(Ljava/lang/Runnable;)V" → "ThreadPoolExecutor.runWorker"
function shortJava(name: string): string {
  const text = withoutBrackets(name, '(')
    .replace(/\/0x[0-9a-f]+/g, '')
    .replace(/(?<=\))[[\w/;$]*$/, '');
  const found = /(?:^|[./])([A-Z$_][\w$]*(?:[.#][\w$<>]+)?)[^./]*$/.exec(text);
  return found?.[1] || text || name;
}

const looksCpp = /::|[<>()]|\boperator\b|\[clone |\[abi:/;
const looksRust = /::h[0-9a-f]{16}$/;
const looksGo = /^[\w.-]+(?:\/[\w.%~-]+)+\.|\.\(\*/;
const looksJava = /^(?:[a-z_][\w$]*[./]){2,}[A-Z$_][\w$]*[.#]/;

type Language = 'cpp' | 'rust' | 'go' | 'java' | 'other';

// By the kind of the frame; profiles of other tools leave it open, then by the looks of the name.
function languageOf(name: string, kind: NameKind): Language {
  if (kind === 3) return 'go';
  if (kind === 4) return 'rust';
  if (kind === 5) return 'java';
  if (kind > 1) return 'other';
  if (looksRust.test(name)) return 'rust';
  if (looksJava.test(name)) return 'java';
  if (looksGo.test(name)) return 'go';
  return 'cpp';
}

export function shortName(name: string, kind: NameKind = 0): string {
  if (name.length > most) return `${shortName(name.slice(0, most), kind)}…`;
  switch (languageOf(name, kind)) {
    case 'rust':
      return shortRust(name);
    case 'go':
      return shortGo(name);
    case 'java':
      return shortJava(name);
    case 'cpp':
      return looksCpp.test(name) ? shortCpp(name) : name;
    default:
      return name;
  }
}

const noPackage = '(none)';

// "acme" of "acme::net::Pool<int>::get(long)": nearly all names begin with their namespace, and need not be shortened to
// find it. Empty for those with a return type, an operator or anything else before it.
function plainNamespace(name: string): string {
  const end = name.indexOf('::');
  if (end <= 0 || !/^[A-Za-z_]\w*$/.test(name.slice(0, end)) || name.includes('operator')) return '';
  let depth = 0;
  for (let at = end; at < name.length; at++) {
    const c = name[at];
    if (c === '<') depth++;
    else if (c === '>') depth--;
    else if (depth === 0 && c === '(') break;
    else if (depth === 0 && c === ' ') return '';
  }
  return depth === 0 ? name.slice(0, end) : '';
}

// What a name belongs to: C++ namespace, Rust crate, Go or Java package, else what stands before the last dot.
export function packageOf(name: string, kind: NameKind = 0): string {
  if (kind === 2) return 'kernel';
  const text = name.length > most ? name.slice(0, most) : name;
  switch (languageOf(text, kind)) {
    case 'rust':
      return /^[<&]*(?:mut |dyn )?([A-Za-z_]\w*)::/.exec(text)?.[1] ?? noPackage;
    case 'go': {
      const slash = text.lastIndexOf('/', text.includes('(') ? text.indexOf('(') : text.length);
      const dot = text.indexOf('.', slash + 1);
      return dot > 0 ? text.slice(0, dot) : noPackage;
    }
    case 'java': {
      const found = /^((?:[a-z_][\w$]*[./])+)[A-Z$_]/.exec(text);
      return found ? found[1].slice(0, -1).replace(/\//g, '.') : noPackage;
    }
    case 'cpp': {
      const plain = plainNamespace(text);
      if (plain) return plain;
      const short = looksCpp.test(text) ? shortCpp(text) : text;
      const end = short.indexOf('::');
      return end > 0 ? short.slice(0, end) : noPackage;
    }
    default: {
      const dot = text.lastIndexOf('.');
      return dot > 0 ? text.slice(0, dot) : noPackage;
    }
  }
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

// What OpenTelemetry's libraries put before a name that was not set but guessed: unknown_service:java.
const guessed = /^unknown_service:(?=.)/;

// A service's name as people know it. Labels and selectors keep the stored value.
export function plainService(name: string): string {
  return name.replace(guessed, '');
}

// A label's value to be read. Only services have values that look like that.
export function labelText(value: string): string {
  return visibleText(plainService(value));
}
