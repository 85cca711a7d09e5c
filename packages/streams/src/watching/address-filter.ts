import type { Address } from '@chainstead/core';

/**
 * Tells whether an address may be watched: always true for one that was added, seldom for another. Eight bytes of each address in
 * an open-addressing table: a million take 16 MB, and 24 MB for the moment in which the table doubles. What is removed stays,
 * which costs a look into the database and nothing else.
 */
export interface AddressFilter {
  add(address: Address): void;
  /** Many, by the last eight bytes of each, one after the other. */
  addTails(tails: Buffer): void;
  /** Of the address whose forty digits begin at this place of a text. @param at default: after `0x` */
  mayHave(text: string, at?: number): boolean;
  /** Distinct addresses, as far as their eight bytes tell them apart. */
  readonly size: number;
}

const CAPACITY_FIRST = 1_024;
/** Above it the table doubles. */
const LOAD_MAX = 0.75;
const PREFIX_DIGITS = 2;
/** Digits before the last eight bytes: small numbers, which look like addresses in logs, share the first ones. */
const HIGH_AT = 24;
const LOW_AT = 32;
const WORD_DIGITS = 8;
export const TAIL_BYTES = 8;

export function createAddressFilter(): AddressFilter {
  /** Pairs of words; a pair of zeros is a free place. */
  let table = new Uint32Array(2 * CAPACITY_FIRST);
  let size = 0;

  /** The place of the pair, or the free one where it belongs. */
  const placeOf = (words: Uint32Array, high: number, low: number): number => {
    const mask = words.length / 2 - 1;
    let place = mix(high, low) & mask;
    for (;;) {
      const one = words[2 * place];
      const other = words[2 * place + 1];
      if ((one === high && other === low) || (one === 0 && other === 0)) return 2 * place;
      place = (place + 1) & mask;
    }
  };

  const grow = (): void => {
    const larger = new Uint32Array(2 * table.length);
    for (let place = 0; place < table.length; place += 2) {
      const high = table[place] ?? 0;
      const low = table[place + 1] ?? 0;
      if (high !== 0 || low !== 0) put(larger, high, low);
    }
    table = larger;
  };

  /** @returns whether it was not there yet. */
  const put = (words: Uint32Array, high: number, low: number): boolean => {
    const place = placeOf(words, high, low);
    const isNew = words[place] === 0 && words[place + 1] === 0;
    words[place] = high;
    words[place + 1] = low;
    return isNew;
  };

  const addPair = (high: number, low: number): void => {
    if (put(table, high, nonZero(high, low))) size++;
    if (size > LOAD_MAX * (table.length / 2)) grow();
  };

  return {
    get size() {
      return size;
    },
    add: (address) => addPair(wordAt(address, PREFIX_DIGITS + HIGH_AT), wordAt(address, PREFIX_DIGITS + LOW_AT)),
    addTails(tails) {
      for (let at = 0; at < tails.length; at += TAIL_BYTES) addPair(tails.readUInt32BE(at), tails.readUInt32BE(at + 4));
    },
    mayHave(text, at = PREFIX_DIGITS) {
      const high = wordAt(text, at + HIGH_AT);
      const low = nonZero(high, wordAt(text, at + LOW_AT));
      const place = placeOf(table, high, low);
      return table[place] === high && table[place + 1] === low;
    },
  };
}

/** The lower word, so that there is no pair of zeros. */
function nonZero(high: number, low: number): number {
  return high === 0 && low === 0 ? 1 : low;
}

/** Eight hexadecimal digits, lower case. Without a substring for each of the many addresses of a block. */
function wordAt(text: string, from: number): number {
  let word = 0;
  for (let at = from; at < from + WORD_DIGITS; at++) {
    const code = text.charCodeAt(at);
    word = (word << 4) | (code < 0x3a ? code - 0x30 : code - 0x57);
  }
  return word >>> 0;
}

/** The finalizer of MurmurHash3: addresses that were chosen to look alike must not crowd one part of the table. */
function mix(high: number, low: number): number {
  let mixed = high ^ Math.imul(low, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
