// The profile inside the page: columns (docs/formats/flame-columns.md) as base64. Not packed: unpacking is asynchronous in
// browsers, and takes longer than reading what it saves.
import { decodeColumns } from '../engine/columns';
import { type Tree, treeOf } from '../engine/tree';

type FromBase64 = { fromBase64?(text: string): Uint8Array }; // newer than the types

export function bytesOf(base64: string): Uint8Array {
  const { fromBase64 } = Uint8Array as FromBase64;
  if (fromBase64) return fromBase64.call(Uint8Array, base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export function readProfile(base64: string): Tree {
  return treeOf(decodeColumns(bytesOf(base64)));
}
