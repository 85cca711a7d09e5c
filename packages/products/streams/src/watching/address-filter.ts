import type { Address } from '@chainstead/core';

/**
 * Never false for an added address. Open addressing, eight bytes each: 16 MB per million. A bitmap
 * of six-digit endings in front rejects nine of ten without a cache miss. Removed ones stay.
 */
export interface AddressFilter {
  add(address: Address): void;
  addTails(tails: Buffer): void;
  /** Forty digits in any letter case. @param at default: after `0x` */
  mayHave(text: string, at?: number): boolean;
  readonly size: number;
}

const CAPACITY_FIRST = 1_024;
const LOAD_MAX = 0.75;
const PREFIX_DIGITS = 2;
/** Last eight bytes: small numbers, which look like addresses, share the digits before. */
const HIGH_AT = 24;
const LOW_AT = 32;
const WORD_DIGITS = 8;
const ENDING_AT = 34;
const ENDING_DIGITS = 6;
const BITS_PER_PLACE = 16;
const ENDINGS = 16 ** ENDING_DIGITS;
export const TAIL_BYTES = 8;

export function createAddressFilter(): AddressFilter {
  /** Pairs of words; zeros are an empty slot. */
  let table = new Uint32Array(2 * CAPACITY_FIRST);
  let endings = createEndings(CAPACITY_FIRST);
  let size = 0;

  const placeOf = (words: Uint32Array, high: number, low: number): number => {
    const mask = words.length / 2 - 1;
    let place = mix(high, low) & mask;
    for (;;) {
      const [first, second] = [words[2 * place], words[2 * place + 1]];
      if ((first === high && second === low) || (first === 0 && second === 0)) return 2 * place;
      place = (place + 1) & mask;
    }
  };

  const grow = (): void => {
    const larger = new Uint32Array(2 * table.length);
    endings = createEndings(table.length);
    for (let place = 0; place < table.length; place += 2) {
      const high = table[place] ?? 0;
      const low = table[place + 1] ?? 0;
      if (high === 0 && low === 0) continue;
      put(larger, high, low);
      endings.add(low);
      // Stands for the pair of zeros.
      if (high === 0 && low === 1) endings.add(0);
    }
    table = larger;
  };

  const put = (words: Uint32Array, high: number, low: number): boolean => {
    const place = placeOf(words, high, low);
    const isNew = words[place] === 0 && words[place + 1] === 0;
    words[place] = high;
    words[place + 1] = low;
    return isNew;
  };

  const addPair = (high: number, given: number): void => {
    const low = nonZero(high, given);
    endings.add(given);
    if (put(table, high, low)) size++;
    if (size > LOAD_MAX * (table.length / 2)) grow();
  };

  return {
    get size() {
      return size;
    },
    add: (address) => addPair(wordAt(address, PREFIX_DIGITS + HIGH_AT), wordAt(address, PREFIX_DIGITS + LOW_AT)),
    addTails(tails) {
      for (let at = 0; at < tails.length; at += TAIL_BYTES)
        addPair(tails.readUInt32BE(at), tails.readUInt32BE(at + 4));
    },
    mayHave(text, at = PREFIX_DIGITS) {
      if (!endings.has(numberAt(text, at + ENDING_AT, ENDING_DIGITS))) return false;
      const high = wordAt(text, at + HIGH_AT);
      const low = nonZero(high, wordAt(text, at + LOW_AT));
      const place = placeOf(table, high, low);
      return table[place] === high && table[place + 1] === low;
    },
  };
}

function nonZero(high: number, low: number): number {
  return high === 0 && low === 0 ? 1 : low;
}

function createEndings(places: number) {
  const bits = Math.min(ENDINGS, places * BITS_PER_PLACE);
  const mask = bits - 1;
  const bytes = new Uint8Array(bits / 8);
  return {
    add(word: number): void {
      const place = word & mask;
      bytes[place >>> 3] = (bytes[place >>> 3] ?? 0) | (1 << (place & 7));
    },
    has: (word: number): boolean => ((bytes[(word & mask) >>> 3] ?? 0) & (1 << (word & 7))) !== 0,
  };
}

function wordAt(text: string, from: number): number {
  return numberAt(text, from, WORD_DIGITS) >>> 0;
}

/** Up to eight hexadecimal digits, without a substring: blocks contain many addresses. */
function numberAt(text: string, from: number, digits: number): number {
  let number = 0;
  for (let at = from; at < from + digits; at++) {
    const code = text.charCodeAt(at);
    // Letters have bit 6 set, and 1 to 6 in the lowest bits.
    number = (number << 4) | ((code & 0xf) + 9 * (code >>> 6));
  }
  return number;
}

/** Finalizer of MurmurHash3: chosen addresses must not cluster in the table. */
function mix(high: number, low: number): number {
  let mixed = high ^ Math.imul(low, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
