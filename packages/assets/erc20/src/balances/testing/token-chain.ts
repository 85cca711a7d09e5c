/** An in-memory chain of scripted tokens: the `balanceOf` results at each block on each branch. */
import type { Address, Hash } from '@chainstead/core';
import { addressOf, hashOf } from '@chainstead/testkit';

/** A Transfer event. */
export interface Move {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
}

/** A balance change without an event. */
export interface Change {
  readonly token: Address;
  readonly wallet: Address;
  readonly by: bigint;
}

export interface TokenBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly moves: readonly Move[];
  /** By {@link holdingOf}; zero if absent. */
  readonly balances: ReadonlyMap<string, bigint>;
}

/** Its transfers change no balances. */
export const LIAR = addressOf(0x11a2);
/** Its `balanceOf` reverts. */
export const SILENT = addressOf(0x511e);
/** An address without a contract. */
export const NOBODY = addressOf(0x0b0d);

export function holdingOf(token: Address, wallet: Address): string {
  return `${token} ${wallet}`;
}

export interface TokenChain {
  readonly head: TokenBlock;
  block(number: number): TokenBlock | undefined;
  byHash(hash: string): TokenBlock | undefined;
  /** Returns a token's balance of a wallet after a canonical block. */
  balance(token: Address, wallet: Address, block: number): bigint;
  mine(moves?: readonly Move[], changes?: readonly Change[]): TokenBlock;
  /** Removes the blocks above this one. */
  dropAbove(ancestor: number): void;
}

/** Starts with an empty block 0. */
export function createTokenChain(): TokenChain {
  let made = 0;
  const all = new Map<string, TokenBlock>();
  const canonical: TokenBlock[] = [];

  function append(moves: readonly Move[], changes: readonly Change[]): TokenBlock {
    const number = canonical.length;
    const balances = new Map(canonical.at(-1)?.balances);
    const change = (token: Address, wallet: Address, by: bigint): void => {
      const holding = holdingOf(token, wallet);
      balances.set(holding, (balances.get(holding) ?? 0n) + by);
    };
    for (const { token, from, to, value } of moves)
      if (token !== LIAR) {
        change(token, from, -value);
        change(token, to, value);
      }
    for (const { token, wallet, by } of changes) change(token, wallet, by);
    const block = { number, hash: hashOf(++made, number), moves, balances };
    all.set(block.hash, block);
    canonical.push(block);
    return block;
  }

  append([], []);
  const headOf = (): TokenBlock => {
    const head = canonical.at(-1);
    if (head === undefined) throw new Error('The chain has no block');
    return head;
  };
  return {
    get head() {
      return headOf();
    },
    block: (number) => canonical[number],
    byHash: (hash) => all.get(hash),
    balance: (token, wallet, block) => canonical[block]?.balances.get(holdingOf(token, wallet)) ?? 0n,
    mine: (moves = [], changes = []) => append(moves, changes),
    dropAbove: (ancestor) => {
      canonical.splice(ancestor + 1);
    },
  };
}
