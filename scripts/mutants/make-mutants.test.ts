import { describe, expect, test } from 'vitest';
import { isMutable } from './areas.ts';
import { chooseMutants, KINDS, makeMutants } from './make-mutants.ts';
import { isGoodEnough } from './result-table.ts';

const changesOf = (text: string) =>
  makeMutants({ path: 'a.ts', text }).map(({ kind, from, to }) => [kind, from, to]);

describe('a place in a text', () => {
  test.each([
    ['x(a < b);', [['comparison', 'a < b', 'a <= b']]],
    ['x(a >= b);', [['comparison', 'a >= b', 'a > b']]],
    ['x(a === b);', [['comparison', 'a === b', 'a !== b']]],
    ['if (a) b();', [['condition', 'a', 'false']]],
    ['x(a ? b : c);', [['condition', 'a', 'false']]],
    ['x(a && b);', [['condition', 'a && b', 'a']]],
    ['x(a || b);', [['condition', 'a || b', 'a']]],
    ['x(a ?? b);', []],
    ['x(7);', [['constant', '7', '8']]],
    ['x(1n);', [['constant', '1n', '2n']]],
    ['x(65, 0x10, 1.5);', []],
    ['const f = async () => { await a(); };', [['await', 'await a()', 'a()']]],
    ['const f = async () => { return await a(); };', []],
    ['x(a - b);', [['order', 'a - b', 'b - a']]],
    ['a(); b();', [['order', 'a(); b();', 'b(); a();']]],
    ['a(); logger.warn(b);', []],
    ['type A = 1 extends 2 ? 3 : 4; interface B { c: 1 }', []],
  ])('%s', (text, expected) => {
    expect(changesOf(text)).toEqual(expected);
  });
});

test('a mutant changes one place and leaves the rest of the text', () => {
  const [first, second] = makeMutants({ path: 'a.ts', text: 'let x = 1;\nlet y = 1;\n' });
  expect(first).toMatchObject({ key: 'a.ts:constant:1#1', line: 1, text: 'let x = 2;\nlet y = 1;\n' });
  expect(second).toMatchObject({ key: 'a.ts:constant:1#2', line: 2, text: 'let x = 1;\nlet y = 2;\n' });
});

describe('the choice', () => {
  const TEXT = 'const f = async () => {\n  if (a < 1) await b();\n  c(d - e);\n  c(2);\n};\n';
  const mutants = ['a.ts', 'b.ts', 'c.ts', 'd.ts'].flatMap((path) => makeMutants({ path, text: TEXT }));

  test('is the same for a seed, whatever the order, and another for another seed', () => {
    const keys = (seed: number, of = mutants) => chooseMutants(of, seed, 8).map(({ key }) => key);
    expect(keys(1)).toEqual(keys(1, mutants.toReversed()));
    expect(keys(1)).not.toEqual(keys(2));
  });

  test('has every kind and at most two of a file', () => {
    const chosen = chooseMutants(mutants, 1, 8);
    expect(new Set(chosen.map(({ kind }) => kind))).toEqual(new Set(KINDS));
    expect(Object.values(Object.groupBy(chosen, ({ path }) => path)).map((of) => of?.length)).toEqual([
      2, 2, 2, 2,
    ]);
  });
});

test('tests, rigs and declarations are not mutated', () => {
  const paths = ['x/a.ts', 'x/a.test.ts', 'x/a.system.test.ts', 'x/testing/a.ts', 'x/index.ts', 'x/schema.ts'];
  expect(paths.filter(isMutable)).toEqual(['x/a.ts']);
});

describe('the result', () => {
  const fate = { area: 'proof', key: 'k', killedBy: 'a test', circle: 'folder', equivalent: null } as const;
  const survivor = { ...fate, killedBy: null, circle: null };

  test('is good from 95 % on, equivalent mutants left out', () => {
    const killed = Array.from({ length: 19 }, () => fate);
    expect(isGoodEnough([...killed, survivor, { ...survivor, equivalent: 'same' }])).toBe(true);
    expect(isGoodEnough([...killed, survivor, survivor])).toBe(false);
  });
});
