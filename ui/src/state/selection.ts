// What people point at, shared by all views on screen: a function under the pointer is lit up in the flame graph, the
// table and the tree alike. Not part of the link.
import { signal } from '@preact/signals';

export const hoveredFunction = signal<string | null>(null);
export const selectedFunction = signal<string | null>(null);

// Functions of the comparison on screen whose change is more than chance; null where that is not known.
export const significantFunctions = signal<ReadonlySet<string> | null>(null);
