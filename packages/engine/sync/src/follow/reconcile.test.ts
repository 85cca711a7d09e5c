import type { Hash } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import { type BranchStep, reconcileBranch, reconcileHead } from './reconcile.ts';

const hashOf = (name: string): Hash => `0x${Buffer.from(name).toString('hex').padStart(64, '0')}` as Hash;

describe('a head', () => {
  test.each([
    ['is caught up with when nothing is indexed', null, 5, 0, 'catch-up'],
    ['is caught up with when it is above the last read block', 10, 11, 0, 'catch-up'],
    ['is compared when it has the number of the last read block', 10, 10, 0, 'compare'],
    ['waits when it is lower at first', 10, 9, 1, 'wait'],
    ['waits when it is lower for the third time', 10, 9, 3, 'wait'],
    ['is compared when it is lower for the fourth time', 10, 9, 4, 'compare'],
  ] as const)('%s', (_name, tip, head, sightings, step) => {
    expect(reconcileHead(tip, head, sightings)).toBe(step);
  });
});

describe('a branch', () => {
  const checkpoint = { number: 100, hash: hashOf('a100') };
  /** Block `a98` is the parent of a block with the number 99. */
  const rootAt = (number: number, parent = `b${number - 1}`) => ({ number, parentHash: hashOf(parent) });
  const step = (
    root: ReturnType<typeof rootAt>,
    hashes: Readonly<Record<number, string | null>> = {},
    hasIndexed: Readonly<Record<number, boolean>> = {},
  ): BranchStep =>
    reconcileBranch(
      {
        checkpoint,
        depthMax: 10,
        hashes: new Map(
          Object.entries(hashes).map(([at, name]) => [Number(at), name === null ? null : hashOf(name)]),
        ),
        hasIndexed: new Map(Object.entries(hasIndexed).map(([at, is]) => [Number(at), is])),
      },
      root,
    );

  test('above the checkpoint is read further down', () => {
    expect(step(rootAt(102))).toEqual({ kind: 'fetch-parent' });
  });

  test('on the height of the checkpoint is compared with the indexed parent', () => {
    expect(step(rootAt(101))).toEqual({ kind: 'look-up', number: 100 });
    expect(step(rootAt(100))).toEqual({ kind: 'look-up', number: 99 });
  });

  test('with an indexed parent replaces what is above that', () => {
    expect(step(rootAt(99, 'a98'), { 98: 'a98' })).toEqual({ kind: 'replace', ancestor: 98 });
  });

  test('with another parent than the indexed one is read further down', () => {
    expect(step(rootAt(99), { 98: 'a98' })).toEqual({ kind: 'fetch-parent' });
  });

  test('over a block that is not indexed asks whether any block within the limit is', () => {
    expect(step(rootAt(99), { 98: null })).toEqual({ kind: 'search', blocks: { from: 90, to: 98 } });
  });

  test('over a gap is read further down while blocks below are indexed', () => {
    expect(step(rootAt(99), { 98: null }, { 98: true })).toEqual({ kind: 'fetch-parent' });
  });

  test('below which nothing is indexed replaces all that is', () => {
    expect(step(rootAt(99), { 98: null }, { 98: false })).toEqual({ kind: 'replace', ancestor: 98 });
  });

  // Invariant: SYNC-REORG-LIMIT
  test('that leaves below the limit stops the chain', () => {
    expect(step(rootAt(92), { 91: 'a91' })).toEqual({ kind: 'fetch-parent' });
    expect(step(rootAt(91), { 90: 'a90' })).toEqual({ kind: 'stop', lowestCompared: 90 });
  });

  test('that leaves below genesis stops the chain', () => {
    const young = { checkpoint: { number: 5, hash: hashOf('a5') }, depthMax: 10, hasIndexed: new Map() };
    const root = { number: 1, parentHash: hashOf('b0') };
    expect(reconcileBranch({ ...young, hashes: new Map([[0, hashOf('a0')]]) }, root)).toEqual({
      kind: 'stop',
      lowestCompared: 0,
    });
  });
});
