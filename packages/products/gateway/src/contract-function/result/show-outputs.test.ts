import type { AbiType } from '@chainstead/events/decoding';
import { expect, test } from 'vitest';
import { showOutputs } from './show-outputs.ts';

const NAMES = Array.from(
  { length: 100 },
  (_, n): AbiType => ({ name: `${'\u0001'.repeat(200)}${n}`, type: 'uint8' }),
);

/** A text within so many tuples, each of which shows it by name and by place. */
function within(levels: number): AbiType {
  return levels === 0
    ? { name: 'text', type: 'string' }
    : { name: 'inner', type: 'tuple', components: [within(levels - 1)] };
}

function nested(levels: number, text: string): unknown {
  return levels === 0 ? text : [nested(levels - 1, text)];
}

test.each<[about: string, type: AbiType, value: (size: number) => unknown, fits: number, isTooMuch: number]>([
  [
    'names in each item of a list',
    { name: 'o', type: 'tuple[]', components: NAMES },
    (size) => Array.from({ length: size }, () => NAMES.map(() => 1)),
    30,
    40,
  ],
  ['members of tuples within each other', within(8), (size) => nested(8, 'x'.repeat(size)), 16_000, 17_000],
  ['one long text', within(0), (size) => '\u0001'.repeat(size), 690_000, 700_000],
])('%s are shown up to 4 MiB of JSON', (_, type, value, fits, isTooMuch) => {
  expect(JSON.stringify(showOutputs([type], [value(fits)])).length).toBeLessThanOrEqual(4_194_304);
  expect(() => showOutputs([type], [value(isTooMuch)])).toThrow('returned more data than a response can hold');
});
