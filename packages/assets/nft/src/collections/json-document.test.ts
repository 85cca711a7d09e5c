import { processorMs } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JSON_DEPTH_MAX, readJsonDocument } from './fetch-document.ts';

const read = (content: string | Buffer, decoded: string | null = null) =>
  readJsonDocument({ bytes: Buffer.from(content), decoded: decoded === null ? null : Buffer.from(decoded) });
const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

describe('a JSON document', () => {
  test('keeps its own text', () => {
    const text = '{"name": "A",\n "10": 1, "2": 2}';
    expect(read(text)).toEqual({ fields: { name: 'A', 10: 1, 2: 2 }, text });
  });

  test.each([
    ['a byte order mark', Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), Buffer.from('{"a":"b"}')]), { a: 'b' }],
    ['bytes that are not UTF-8', Buffer.from('7b2261223a22ff227d', 'hex'), { a: '\uFFFD' }],
    ['NUL characters', Buffer.from('\0{"a":\0"b"}\0'), { a: 'b' }],
    ['white space around', Buffer.from('\n  {"a":"b"}\r\n'), { a: 'b' }],
  ])('is read with %s', (_, content, fields) => {
    expect(read(content).fields).toEqual(fields);
  });

  test('is taken from the other reading of its URI where the first is not JSON', () => {
    expect(read('{%22a%22:1}', '{"a":1}').fields).toEqual({ a: 1 });
    expect(read('{"a":"%41"}', '{"a":"A"}').fields).toEqual({ a: '%41' });
  });

  test('keeps numbers and spelling beside escapes that Postgres refuses', () => {
    const { text } = read(String.raw`{"a\\u0000": 9007199254740993, "b":"\u00e9\u0000\/"}`);
    expect(text).toBe(String.raw`{"a\\u0000": 9007199254740993, "b":"\u00e9\/"}`);
  });

  test('gives a text that Postgres can hold', () => {
    const { text } = read(
      String.raw`{"a\u0000": "x\u0000y", "b": ["\ud800"], "c": {"d": "\udfff", "e": "\ud83d\ude00"}}`,
    );
    expect(JSON.parse(text)).toEqual({ a: 'xy', b: ['\uFFFD'], c: { d: '\uFFFD', e: '😀' } });
    expect(text).not.toMatch(/\\u0000|\0/);
  });

  test.each([
    ['HTML', '<!doctype html>', 'DOCUMENT_NOT_JSON'],
    ['nothing', '', 'DOCUMENT_NOT_JSON'],
    ['an array', '[{"name":"A"}]', 'DOCUMENT_NOT_JSON'],
    ['null', 'null', 'DOCUMENT_NOT_JSON'],
    ['a text', '"ipfs://x"', 'DOCUMENT_NOT_JSON'],
    ['half a document', '{"name":"A"', 'DOCUMENT_NOT_JSON'],
    ['a document too deep', nested(JSON_DEPTH_MAX + 1), 'DOCUMENT_TOO_DEEP'],
    ['half a million empty lists', `{"a":[${'[],'.repeat(500_000)}0]}`, 'DOCUMENT_TOO_LARGE'],
    ['two million brackets', '['.repeat(2_000_000), 'DOCUMENT_TOO_DEEP'],
  ])('is refused: %s', (_, content, code) => {
    expect(() => read(content)).toThrow(expect.objectContaining({ code }));
  });

  test('may be as deep as the limit, and hold any brackets in its texts', () => {
    expect(() => read(nested(JSON_DEPTH_MAX))).not.toThrow();
    expect(read(JSON.stringify({ a: '[{"'.repeat(100) })).fields).toEqual({ a: '[{"'.repeat(100) });
  });

  test('takes no longer than its length deserves', () => {
    const started = process.cpuUsage();
    for (const hostile of ['"\\"'.repeat(500_000), '{"a":"'.repeat(200_000), '\\"'.repeat(700_000)])
      expect(() => read(hostile)).toThrow();
    expect(processorMs(started)).toBeLessThan(5_000);
  });

  test('means the same as the text that is kept', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const { fields, text } = read(JSON.stringify(value));
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(fields)));
      }),
    );
  });
});
