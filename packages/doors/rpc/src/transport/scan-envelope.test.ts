import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ByteSpan, type Envelope, scanEnvelope } from './scan-envelope.ts';
import { createValueScanner } from './value-scanner.ts';

const NAMES = ['jsonrpc', 'id', 'result', 'error', 'Result', '', 'res"ult'] as const;
const space = fc.constantFrom('', ' ', '\n', '\t \r\n');
/** Values whose text is easy to mistake for the envelope. */
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom('"result":', '{"result":1}', '\\', '\\"', '"', '}', ']', '\u2028', { result: { result: '}' } }),
);
const text = fc.tuple(value, fc.boolean()).map(([one, isSpaced]) => JSON.stringify(one, null, isSpaced ? 2 : 0));
const member = fc
  .tuple(fc.constantFrom(...NAMES), fc.boolean(), text, space, space)
  .map(
    ([name, isEscaped, json, before, after]) => `${nameText(name, isEscaped)}${before}:${after}${json}${before}`,
  );
const envelope = fc
  .tuple(fc.array(member, { minLength: 1, maxLength: 6 }), space, fc.boolean(), fc.boolean())
  .map(([members, around, isList, hasMark]) => {
    const object = `{${around}${members.join(`,${around}`)}}`;
    return `${hasMark ? '\ufeff' : ''}${around}${isList ? `[${around}${object}${around}]` : object}${around}`;
  });

function nameText(name: string, isEscaped: boolean): string {
  if (!isEscaped) return JSON.stringify(name);
  return `"${[...name].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`;
}

/** Parses with JSON.parse; a list of one becomes its element. */
function parsed(json: string): Record<string, unknown> {
  const whole: unknown = JSON.parse(json.replace(/^\ufeff/, ''));
  return (Array.isArray(whole) ? whole[0] : whole) as Record<string, unknown>;
}

function read(bytes: Buffer, span: ByteSpan | null): unknown {
  return span === null ? undefined : JSON.parse(bytes.toString('utf8', span.start, span.end));
}

function complete(bytes: Buffer): Envelope {
  const scanned = scanEnvelope(bytes);
  if (scanned.kind !== 'complete') throw new Error(`not complete: ${bytes.toString()}`);
  return scanned;
}

describe('the envelope of an answer', () => {
  test('has the members that JSON.parse finds, of any order, spacing, escaping and repetition', () => {
    fc.assert(
      fc.property(envelope, (json) => {
        const bytes = Buffer.from(json);
        const expected = parsed(json);
        const scanned = complete(bytes);
        for (const name of ['id', 'result', 'error'] as const)
          expect(read(bytes, scanned[name])).toEqual(Object.hasOwn(expected, name) ? expected[name] : undefined);
      }),
      { numRuns: 2_000 },
    );
  });

  test('is not complete when it was cut off anywhere', () => {
    fc.assert(
      fc.property(envelope, fc.nat(), (json, cut) => {
        const bytes = Buffer.from(json.trimEnd());
        expect(scanEnvelope(bytes.subarray(0, cut % bytes.length)).kind).not.toBe('complete');
      }),
      { numRuns: 2_000 },
    );
  });

  test('is found only in what JSON.parse reads too, where nothing but brackets, commas and names is broken', () => {
    const broken = fc
      .tuple(envelope, fc.nat(), fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '1', 'x', ''))
      .map(([json, at, put]) => `${json.slice(0, at % json.length)}${put}${json.slice((at % json.length) + 1)}`);
    fc.assert(
      fc.property(broken, (json) => {
        const bytes = Buffer.from(json);
        const scanned = scanEnvelope(bytes);
        let expected: unknown;
        try {
          expected = JSON.parse(json.replace(/^\ufeff/, ''));
        } catch {
          // The scanner checks only brackets and strings inside values, so it may accept invalid JSON there.
          return;
        }
        const isAnswer = Array.isArray(expected)
          ? expected.length === 1 && isFilledObject(expected[0])
          : isFilledObject(expected);
        expect(scanned.kind === 'complete').toBe(isAnswer);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    '',
    ' ',
    'null',
    '"result"',
    '[]',
    '{}',
    '<html>',
    '{"result":}',
    '{"result":1,}',
    '{"result" 1}',
    '{"result":tru}',
    '{"result":01}',
    '{"result":0x1}',
    '{"result":1}{"result":2}',
    '{"result":1}]',
    '[{"result":1}',
    '[{"result":1},{"result":2}]',
    '{result:1}',
    '{"result":1 "id":2}',
  ])('is not in %j', (json) => {
    expect(scanEnvelope(Buffer.from(json)).kind).toBe('other');
  });

  test('that ends inside its result tells where that starts, and the scanner finds its end in later bytes', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 6 }), (json, cuts) => {
        fc.pre(/^["[{]/.test(json));
        const whole = Buffer.from(`{"id":7,"result": ${json},"x":"}"}`);
        const start = whole.indexOf(json);
        const length = Buffer.byteLength(json);
        const places = [...cuts.map((cut) => start + 1 + (cut % (length - 1))), start + 1].toSorted(
          (a, b) => a - b,
        );
        const [first = 0, ...others] = places;
        const scanned = scanEnvelope(whole.subarray(0, first));
        if (scanned.kind !== 'open-result') throw new Error(`not open: ${scanned.kind}`);
        expect(scanned.start).toBe(start);
        let from = first;
        for (const place of others) {
          expect(scanned.scanner.scan(whole.subarray(from, place), 0)).toBe(-1);
          from = place;
        }
        expect(from + scanned.scanner.scan(whole.subarray(from), 0)).toBe(start + length);
      }),
      { numRuns: 2_000 },
    );
  });
});

test('a long string ends at its own quote, wherever it was cut', () => {
  const strings = fc.string({ unit: fc.constantFrom('a', '\\', '"', 'é'), maxLength: 400 });
  fc.assert(
    fc.property(strings, fc.nat(), (content, cut) => {
      const bytes = Buffer.from(`${JSON.stringify(content)},"`);
      const at = 1 + (cut % (bytes.length - 3));
      const scanner = createValueScanner();
      const early = scanner.scan(bytes.subarray(0, at), 0);
      expect(early).toBe(-1);
      expect(at + scanner.scan(bytes.subarray(at), 0)).toBe(bytes.length - 2);
    }),
    { numRuns: 2_000 },
  );
});

function isFilledObject(json: unknown): boolean {
  return typeof json === 'object' && json !== null && !Array.isArray(json) && Object.keys(json).length > 0;
}
