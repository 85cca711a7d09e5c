import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCursorCodec, InvalidCursorError, type JsonObject, WeakSecretError } from './cursor.ts';

const codec = createCursorCodec(Buffer.alloc(32, 7));

/** Objects as JSON.parse returns them. */
const payloads = fc
  .dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 })
  .map((payload): JsonObject => JSON.parse(JSON.stringify(payload)));

function expectRefused(text: string, by = codec): void {
  expect(() => by.decode(text), text).toThrow(InvalidCursorError);
}

describe('a cursor', () => {
  it('gives back what it was made of, and fits into a URL as it is', () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        const text = codec.encode(payload);
        expect(codec.decode(text)).toEqual(payload);
        expect(encodeURIComponent(text)).toBe(text);
      }),
    );
  });

  // Invariant: PAGE-SIGNED-CURSOR
  it('is refused when any character is another', () => {
    const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ .'];
    fc.assert(
      fc.property(payloads, fc.nat(), fc.constantFrom(...alphabet), (payload, seed, character) => {
        const text = codec.encode(payload);
        const at = seed % text.length;
        fc.pre(text[at] !== character);
        expectRefused(`${text.slice(0, at)}${character}${text.slice(at + 1)}`);
      }),
      { numRuns: 1000 },
    );
  });

  it('is refused when cut anywhere or followed by anything', () => {
    const text = codec.encode({ block: 17_433_429, log: 53 });
    for (let length = 0; length < text.length; length++) expectRefused(text.slice(0, length));
    for (let from = 1; from < text.length; from++) expectRefused(text.slice(from));
    for (const more of ['A', '=', ' ', '\n', text]) expectRefused(text + more);
  });

  it('is refused by a server with another secret', () => {
    fc.assert(
      fc.property(payloads, fc.uint8Array({ minLength: 16, maxLength: 64 }), (payload, secret) => {
        fc.pre(!Buffer.from(secret).equals(Buffer.alloc(secret.length, 7)));
        expectRefused(codec.encode(payload), createCursorCodec(secret));
      }),
    );
  });

  it('is accepted by a replica with the same secret', () => {
    const replica = createCursorCodec(Buffer.alloc(32, 7));
    expect(replica.decode(codec.encode({ page: 2 }))).toEqual({ page: 2 });
  });

  it('of any other text is refused', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: 'binary' })), (text) => {
        expectRefused(text);
      }),
    );
    expectRefused('eyJhbGciOiJIUzI1NiJ9.eyJwYWdlIjoxfQ.c2lnbmF0dXJl');
    expectRefused('A'.repeat(1_000_000));
  });

  it('of a layout with another version is refused although its bytes are signed alike', () => {
    const bytes = Buffer.from(codec.encode({ page: 1 }), 'base64url');
    bytes[0] = 2;
    expectRefused(bytes.toString('base64url'));
  });

  it('is the same bytes in every release of this layout', () => {
    const text = 'Ad9Qsc_GSappC6bECmkOhdN7InIiOiJ0cmFuc2ZlcnMiLCJuIjoyLCJuYW1lIjoiWsO8cmljaCJ9';
    expect(codec.decode(text)).toEqual({ r: 'transfers', n: 2, name: 'Zürich' });
    expect(codec.encode({ r: 'transfers', n: 2, name: 'Zürich' })).toBe(text);
  });

  it('carries a stable code', () => {
    expect(() => codec.decode('x')).toThrow(
      expect.objectContaining({ code: 'INVALID_CURSOR', retryable: false }),
    );
  });
});

it('a secret of fewer than 16 bytes is refused', () => {
  expect(() => createCursorCodec(Buffer.alloc(15))).toThrow(WeakSecretError);
});

it('a secret that its owner wipes later still works', () => {
  const secret = Buffer.alloc(32, 7);
  const wiped = createCursorCodec(secret);
  secret.fill(0);
  expect(wiped.decode(codec.encode({ page: 1 }))).toEqual({ page: 1 });
});
