/** Parts of an action: the facts that it needs, and the transaction that it makes. */
import type { Address, Hex } from '@chainstead/core';
import type { SeededRandom } from '@chainstead/testkit';
import { encodeCall, type NodeCall } from '../story/node.ts';
import type { AssetsWorld } from './world.ts';

/** A transaction. */
export interface Sending extends NodeCall {
  readonly from: Address;
  readonly value?: bigint;
  /** What it means, for people to read. */
  readonly text: string;
}

/** An action: what has to be asked first, and what comes of the answers; null for nothing. */
export interface Draft {
  readonly reads: readonly NodeCall[];
  make(said: readonly (Hex | null)[]): Sending | null;
}

/** Some do more than others. */
export function actor({ accounts }: AssetsWorld, random: SeededRandom): Address {
  return at(accounts, random.skewedIndex(accounts.length, 1.5));
}

export function receiver(world: AssetsWorld, random: SeededRandom): Address {
  return random.chance(0.6) ? actor(world, random) : random.pick(world.holders);
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new RangeError(`There is no item ${index}`);
  return found;
}

/** Without anything to know first. */
export function always(sending: Sending): Draft {
  return { reads: [], make: () => sending };
}

export function send(
  from: Address,
  to: Address,
  [signature, ...args]: readonly [string, ...unknown[]],
  value?: bigint,
): Sending {
  const shown = args.map((arg) => (Array.isArray(arg) ? `[${arg.join(' ')}]` : String(arg))).join(', ');
  const text = `${from} calls ${signature} of ${to} with ${shown}${value === undefined ? '' : ` and ${value} wei`}`;
  return { from, to, data: encodeCall(signature, args), text, ...(value !== undefined && { value }) };
}
