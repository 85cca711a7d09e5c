import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countJsonValues, type JsonBounds, parseBoundedJson, startOfJson } from './json-bounds.ts';

const WIDE: JsonBounds = { depthMax: 64, valuesMax: 1_000_000 };

function countOf(text: string, bounds = WIDE): number {
  return countJsonValues(Buffer.from(text), bounds);
}

/** Counts the value itself, items of lists and members of objects. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + valuesIn(item), 1);
}

describe('values are counted before they are parsed', () => {
  test('as many as there are, however the text is written', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom('', '\t', '  '), (json, space) => {
        const value: unknown = JSON.parse(json);
        expect(countOf(JSON.stringify(value, null, space))).toBe(valuesIn(value));
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['"[{,\\"[\\\\"', 1],
    ['{"a,[\\"":[]}', 2],
    ['[[],{},[ ]]', 4],
    ['', 1],
    ['"', 1],
    ['"\\', 1],
  ])('%s holds %i', (text, values) => {
    expect(countOf(text)).toBe(values);
  });

  test('up to a bound', () => {
    expect(countOf('[1,2]', { ...WIDE, valuesMax: 3 })).toBe(3);
    expect(() => countOf('[1,2]', { ...WIDE, valuesMax: 2 })).toThrow('JSON holds more than 2 values');
    expect(() => countOf('{"a":1,"b":2}', { ...WIDE, valuesMax: 2 })).toThrow('JSON holds more than 2 values');
  });

  test('and no deeper than a bound', () => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
    expect(parseBoundedJson(nested(64), WIDE)).toEqual(JSON.parse(nested(64)));
    expect(() => parseBoundedJson(nested(65), WIDE)).toThrow('JSON is nested deeper than 64 levels');
    expect(() => parseBoundedJson('{"a":'.repeat(65), WIDE)).toThrow('JSON is nested deeper than 64 levels');
  });
});

describe('the beginning of a JSON text', () => {
  test('is that of the whole', () => {
    fc.assert(
      fc.property(fc.json(), fc.integer({ min: 0, max: 50 }), (json, length) => {
        const value: unknown = JSON.parse(json);
        const whole = JSON.stringify(value);
        const start = startOfJson(value, length);
        // A truncated text has a quote at the cut.
        expect(whole.startsWith(start.slice(0, length))).toBe(true);
        if (whole.length <= length) expect(start).toBe(whole);
      }),
      { numRuns: 1_000 },
    );
  });

  test('takes as long as it is, not as the value is deep', () => {
    let value: unknown = [];
    for (let level = 0; level < 1_000_000; level++) value = [value];
    expect(startOfJson(value, 10)).toMatch(/^\[{11,12}\]*$/);
  });
});
