import type { Hex } from '@chainstead/core';

/** A stream of reproducible random values: the same seed always gives the same values in the same order. */
export interface SeededRandom {
  /** A float in [0, 1). */
  next(): number;
  /** An integer in [min, max], both included. */
  integer(min: number, max: number): number;
  /** True in a share of `probability` (0 to 1) of the calls. */
  chance(probability: number): boolean;
  /** One of the items, each as likely as the others. @throws RangeError when there are none. */
  pick<T>(items: readonly T[]): T;
  /** An index in [0, count) where low ones are far more likely: `exponent` 1 is uniform, 3 gives the first 1 % of the indexes 21 % of the draws. */
  skewedIndex(count: number, exponent: number): number;
  /** So many random bytes as lower-case hexadecimal text. */
  hex(bytes: number): Hex;
  /** An independent stream, the same for the same seed and label whatever was drawn before. */
  fork(label: string | number): SeededRandom;
}

/**
 * xoshiro128** (Blackman and Vigna) seeded through splitmix32: fast, good enough for simulations, not for secrets.
 * A text seed is folded to 32 bits first.
 */
export function createSeededRandom(seed: number | string): SeededRandom {
  const origin = foldSeed(seed);
  const draw = xoshiro128(origin);
  const next = (): number => draw() / 0x1_0000_0000;
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (items) => {
      const index = integer(0, items.length - 1);
      if (items.length === 0) throw new RangeError('Cannot pick from an empty list');
      return items[index] as (typeof items)[number];
    },
    skewedIndex: (count, exponent) => Math.floor(count * next() ** exponent),
    hex: (bytes) => {
      let text = '0x';
      for (let left = bytes; left > 0; left -= 4)
        text += draw()
          .toString(16)
          .padStart(8, '0')
          .slice(0, Math.min(left, 4) * 2);
      return text as Hex;
    },
    fork: (label) => createSeededRandom(`${origin}/${label}`),
  };
}

/** A float in [0, 1) that depends on the text alone: for decisions that must not depend on the order of requests. */
export function hashToUnit(text: string): number {
  let state = foldSeed(text);
  state = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
  state = Math.imul(state ^ (state >>> 15), 0x735a2d97);
  return ((state ^ (state >>> 15)) >>> 0) / 0x1_0000_0000;
}

/** FNV-1a over UTF-16 code units. */
function foldSeed(seed: number | string): number {
  let hash = 0x811c9dc5;
  for (const unit of String(seed)) hash = Math.imul(hash ^ unit.charCodeAt(0), 0x01000193);
  return hash >>> 0;
}

function xoshiro128(seed: number): () => number {
  let mix = seed;
  const splitmix = (): number => {
    mix = (mix + 0x9e3779b9) | 0;
    let z = Math.imul(mix ^ (mix >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  let a = splitmix();
  let b = splitmix();
  let c = splitmix();
  let d = splitmix() | 1;
  const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));
  return () => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return result;
  };
}
