import type { BlockFacts } from './block-facts.ts';

/** A webhook of a block, as its receiver reads it. */
export interface ReadWebhook {
  /** Place of its stream. */
  readonly stream: number;
  readonly blockHash: string;
  readonly confirmed: boolean;
  /** Attempts before this one. */
  readonly retries: number;
}

/**
 * `first`: it was waited for. `repeated`: it had come before and says that it is tried again, which at-least-once allows.
 * `twice`: it had come before and does not say so. `unasked`: the block has nothing for the stream. `orphaned`: a confirmed webhook of a
 * block that left the chain.
 */
export type WebhookOutcome = 'first' | 'repeated' | 'twice' | 'unasked' | 'orphaned';

interface BookedBlock {
  readonly number: number;
  readonly hash: string;
  readonly minedAt: number;
  readonly facts: BlockFacts;
  /** A bit for each stream that is to hear of it, and for each that did. */
  readonly expected: number;
  unconfirmed: number;
  confirmed: number;
  orphaned: boolean;
}

/** What is to be sent of each block, and what came. */
export interface WebhookBook {
  mined(block: { number: number; hash: string; facts: BlockFacts; streams: readonly number[] }, at: number): void;
  /** The blocks from this number on left the chain. */
  dropped(from: number): void;
  received(webhook: ReadWebhook): { readonly outcome: WebhookOutcome; readonly minedAt: number | null };
  /** When a block of the chain was made. Milliseconds; null when there is none. */
  minedAt(number: number): number | null;
  /**
   * Webhooks of the chain's blocks that have not come, of those made until `before`: unconfirmed ones up to a block, and confirmed ones of
   * blocks that have so many confirmations under it.
   */
  missing(
    upTo: number,
    confirmations: number,
    before: number,
  ): { readonly unconfirmed: number; readonly confirmed: number };
  /** Of each block of the chain up to a number, in order. */
  facts(upTo: number): BookedFacts[];
}

export interface BookedFacts extends BlockFacts {
  readonly number: number;
  readonly hash: string;
}

export function createWebhookBook(): WebhookBook {
  const chain: BookedBlock[] = [];
  const byHash = new Map<string, BookedBlock>();
  const firstNumber = (): number => chain[0]?.number ?? 0;
  return {
    mined({ number, hash, facts, streams }, at) {
      const expected = streams.reduce((bits, stream) => bits | (1 << stream), 0);
      const block = { number, hash, facts, expected, minedAt: at, unconfirmed: 0, confirmed: 0, orphaned: false };
      chain.push(block);
      byHash.set(hash, block);
    },
    dropped(from) {
      for (const block of chain.splice(Math.max(0, from - firstNumber()))) block.orphaned = true;
    },
    received({ stream, blockHash, confirmed, retries }) {
      const block = byHash.get(blockHash);
      const bit = 1 << stream;
      if (block === undefined || (block.expected & bit) === 0) return { outcome: 'unasked', minedAt: null };
      const kind = confirmed ? 'confirmed' : 'unconfirmed';
      const hasCome = (block[kind] & bit) !== 0;
      block[kind] |= bit;
      if (hasCome) return { outcome: retries > 0 ? 'repeated' : 'twice', minedAt: null };
      return { outcome: confirmed && block.orphaned ? 'orphaned' : 'first', minedAt: block.minedAt };
    },
    minedAt: (number) => chain[number - firstNumber()]?.minedAt ?? null,
    missing(upTo, confirmations, before) {
      let [unconfirmed, confirmed] = [0, 0];
      for (const block of chain) {
        if (block.number > upTo || block.minedAt > before) break;
        unconfirmed += bitsIn(block.expected & ~block.unconfirmed);
        if (block.number <= upTo - confirmations) confirmed += bitsIn(block.expected & ~block.confirmed);
      }
      return { unconfirmed, confirmed };
    },
    facts: (upTo) =>
      chain.filter(({ number }) => number <= upTo).map(({ number, hash, facts }) => ({ number, hash, ...facts })),
  };
}

function bitsIn(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}
