import { getOrCompute } from '@chainstead/core';
import type { AbiType } from './abi-entry.ts';
import { itemsOf } from './read-abi.ts';
import { isView, readAbiItem } from './read-abi-item.ts';

/** View function or error, as an item of an ABI. */
export interface CallableItem {
  readonly type: 'function' | 'error';
  readonly name: string;
  readonly stateMutability: 'view';
  readonly inputs: readonly AbiType[];
  readonly outputs: readonly AbiType[];
  /** `balanceOf(address)`. */
  readonly signature: string;
}

const ITEMS_MAX = 500;

/** In order, the first one of each signature, without invalid ones. Null: no ABI in any form of `readAbi`. */
export function readCallableItems(document: unknown): readonly CallableItem[] | null {
  const items = itemsOf(document);
  if (items === null) return null;
  const read = new Map<string, CallableItem>();
  for (const given of items) {
    const item = read.size < ITEMS_MAX ? callableItem(given) : null;
    if (item !== null) getOrCompute(read, `${item.type} ${item.signature}`, () => item);
  }
  return [...read.values()];
}

function callableItem(given: unknown): CallableItem | null {
  const { type = 'function', name, inputs, outputs }: Readonly<Record<string, unknown>> = Object(given);
  if (type !== 'error' && !(type === 'function' && isView(given))) return null;
  const [taken, returned] = [inputs, outputs].map((types) => readAbiItem({ name, inputs: types ?? [] }));
  if (typeof taken !== 'object' || taken?.kind !== 'function') return null;
  if (typeof returned !== 'object' || returned?.kind !== 'function') return null;
  const { entry } = taken;
  return {
    ...{ type, name: entry.name, stateMutability: 'view' },
    ...{ inputs: entry.inputs, outputs: returned.entry.inputs, signature: entry.signature },
  };
}
