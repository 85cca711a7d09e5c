import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  countJsonValues,
  type JsonBounds,
  parseBoundedJson,
  requireModestJson,
  startOfJson,
} from './json-bounds.ts';

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

  test('also behind long strings, whatever is escaped in them', () => {
    const letters = fc.string({ unit: fc.constantFrom('x', '"', '\\', ',', '['), maxLength: 3 });
    const texts = fc.array(fc.tuple(letters, fc.nat(300), letters, fc.nat(300), letters));
    fc.assert(
      fc.property(texts, (parts) => {
        const value = parts.map(([a, m, b, n, c]) => [`${a}${'x'.repeat(m)}${b}${'y'.repeat(n)}${c}`]);
        expect(countOf(JSON.stringify(value))).toBe(valuesIn(value));
      }),
      { numRuns: 1_000 },
    );
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

describe('JSON of a megabyte and more', () => {
  const many = (item: (place: number) => string) => {
    const items = Array.from({ length: 200_000 }, (_, place) => item(place));
    return Buffer.from(`{"a":[${items.join(',')}]}`);
  };
  const word = (place: number): string => place.toString(36).padStart(6, '0');
  const hash = (place: number): string => `0x${place.toString(16).padStart(64, '0')}`;

  // Invariant: HTTP-BODY-BOUNDED
  test.each<readonly [string, (place: number) => string]>([
    ['empty lists', () => '[ ],[]'],
    ['empty objects', () => '{ },{}'],
    ['short texts that differ', (place) => `"${word(place)}"`],
    ['a name of its own in each object', (place) => `{"${word(place)}":1}`],
    ['a name of its own behind spaces', (place) => `{"${word(place)}" :1}`],
    ['objects in objects', (place) => `{"${word(place)}":{"b":{}}}`],
  ])('is refused for %s', (_what, item) => {
    expect(() => requireModestJson(many(item))).toThrow(/^JSON holds more values than fit \d+ bytes of memory/);
  });

  test('is refused for an object with a name for each few bytes', () => {
    const names = Array.from({ length: 200_000 }, (_, place) => `"${word(place)}":{}`);
    expect(() => requireModestJson(Buffer.from(`{${names.join(',')}}`))).toThrow(/more values than fit/);
  });

  test.each<readonly [string, (place: number) => string]>([
    [
      'logs',
      (place) =>
        `{"address":"0x${'ab'.repeat(20)}","topics":["${hash(place)}"],"data":"0x","blockNumber":"0x1","transactionHash":"${hash(place)}","logIndex":"0x${place.toString(16)}","removed":false}`,
    ],
    [
      'traces of deep calls',
      (place) =>
        `{"action":{"from":"0x${'ab'.repeat(20)}","gas":"0x${place.toString(16)}","value":"0x0"},"subtraces":1,"traceAddress":[${'0,'.repeat(200)}0],"type":"call"}`,
    ],
    ['storage by its places', (place) => `{"${hash(place)}":"${hash(place + 1)}"}`],
    ['texts that repeat', () => '"transfer","0x"'],
    ['a long name of its own in each object', (place) => `{"${word(place)}${'x'.repeat(128)}":1}`],
  ])('is read for %s', (_what, item) => {
    expect(() => requireModestJson(many(item))).not.toThrow();
  });

  test('is measured from a size on', () => {
    const lists = Buffer.from(`[${'[],'.repeat(300_000)}0]`);
    expect(() => requireModestJson(lists)).not.toThrow();
    expect(() => requireModestJson(lists, { fromBytes: 64_000 })).toThrow(/more values than fit/);
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
