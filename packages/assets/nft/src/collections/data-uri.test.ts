import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDataUri } from './read-document.ts';

const MAX = 1_000;
const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString());
const parse = (uri: string) => {
  const { mediaType, bytes, decoded } = parseDataUri(uri, MAX);
  return [mediaType, text(bytes), text(decoded)];
};
const base64 = (content: string | Buffer): string => Buffer.from(content).toString('base64');

describe('a data: URI', () => {
  test.each([
    ['base64', `data:application/json;base64,${base64('{"a":"é"}')}`, ['application/json', '{"a":"é"}', null]],
    [
      'base64 with a charset',
      `data:application/json;charset=utf-8;base64,${base64('{}')}`,
      ['application/json', '{}', null],
    ],
    ['base64 without padding', 'data:application/json;base64,e30', ['application/json', '{}', null]],
    [
      'base64url',
      `data:text/plain;base64,${Buffer.from('~~~???').toString('base64url')}`,
      ['text/plain', '~~~???', null],
    ],
    ['base64 with line breaks', 'data:text/plain;base64,aGVs\n bG8=', ['text/plain', 'hello', null]],
    ['percent-encoded base64', 'data:text/plain;base64,aGVsbG8%3D', ['text/plain', 'hello', null]],
    ['capitals', `DATA:Application/JSON;BASE64,${base64('{}')}`, ['application/json', '{}', null]],
    [
      'percent-encoded text',
      'data:application/json,%7B%22a%22%3A%22%C3%A9%22%7D',
      ['application/json', '{"a":"é"}', null],
    ],
    [
      'plain JSON that claims to be base64',
      'data:application/json;base64,{"a":1}',
      ['application/json', '{"a":1}', null],
    ],
    ['JSON with #', 'data:application/json;utf8,{"name":"#1"}', ['application/json', '{"name":"#1"}', null]],
    ['plain JSON', 'data:application/json;utf8,{"a":"é"}', ['application/json', '{"a":"é"}', null]],
    [
      'plain JSON with an encoded URI inside, both readings',
      'data:application/json;utf8,{"image":"data:image/svg+xml,%3Csvg%3E"}',
      ['application/json', '{"image":"data:image/svg+xml,%3Csvg%3E"}', '{"image":"data:image/svg+xml,<svg>"}'],
    ],
    ['a percent sign that encodes nothing', 'data:text/plain,100% sure', ['text/plain', '100% sure', null]],
    [
      'SVG as it stands',
      'data:image/svg+xml;utf8,<svg fill="#fff"/>',
      ['image/svg+xml', '<svg fill="#fff"/>', null],
    ],
    ['no media type', 'data:,hello', ['text/plain', 'hello', null]],
    ['a charset that is known', 'data:text/plain;charset=iso-8859-1,caf%E9', ['text/plain', 'café', null]],
    ['a charset that is not', 'data:text/plain;charset=klingon,caf%C3%A9', ['text/plain', 'café', null]],
    ['commas in the payload', 'data:text/plain,a,b', ['text/plain', 'a,b', null]],
  ])('is read: %s', (_, uri, expected) => {
    expect(parse(uri)).toEqual(expected);
  });

  test.each([
    ['without a comma', 'data:application/json;base64', 'DOCUMENT_DATA_INVALID'],
    ['with signs that are not base64', 'data:application/json;base64,a:1', 'DOCUMENT_DATA_INVALID'],
    ['with a digit too many', 'data:application/json;base64,aaaaa', 'DOCUMENT_DATA_INVALID'],
    ['with a media type that never ends', `data:${'a'.repeat(1_000)},x`, 'DOCUMENT_DATA_INVALID'],
    [
      'that is too large as base64',
      `data:text/plain;base64,${base64('x'.repeat(MAX + 1))}`,
      'DOCUMENT_TOO_LARGE',
    ],
    ['that is far too large as base64', `data:text/plain;base64,${'A'.repeat(MAX * 5)}`, 'DOCUMENT_TOO_LARGE'],
    ['that is too large as text', `data:text/plain,${'x'.repeat(MAX + 1)}`, 'DOCUMENT_TOO_LARGE'],
    ['that is too large in bytes', `data:text/plain,${'é'.repeat(MAX)}`, 'DOCUMENT_TOO_LARGE'],
  ])('is refused %s', (_, uri, code) => {
    expect(() => parse(uri)).toThrow(expect.objectContaining({ code }));
  });

  test('gives back any bytes that were put in, in both encodings', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const percents = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
        expect([...parseDataUri(`data:x/y;base64,${base64(Buffer.from(bytes))}`, MAX).bytes]).toEqual([...bytes]);
        expect([...parseDataUri(`data:x/y,${percents}`, MAX).bytes]).toEqual([...bytes]);
      }),
    );
  });

  test('throws nothing but errors of documents, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (rest) => {
        try {
          parseDataUri(`data:${rest}`, MAX);
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^DOCUMENT_/) });
        }
      }),
    );
  });
});
