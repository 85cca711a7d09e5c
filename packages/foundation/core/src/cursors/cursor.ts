import { hash, timingSafeEqual } from 'node:crypto';
import { defineError } from '../errors/error.ts';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

export interface CursorCodec {
  encode(payload: JsonObject): string;
  /** @throws InvalidCursorError */
  decode(text: string): JsonObject;
}

/** The cursor was truncated, altered, or made by another server. Code `INVALID_CURSOR`. */
export class InvalidCursorError extends defineError('INVALID_CURSOR', (reason: string) => ({
  message: `The cursor was not created by this server: ${reason}`,
  facts: { reason },
  remedy: 'Send the cursor of the last response unchanged, or no cursor to start again',
})) {}

/** The secret is too short to sign with. Code `WEAK_SECRET`. */
export class WeakSecretError extends defineError('WEAK_SECRET', (bytes: number) => ({
  message: `The cursor secret has ${bytes} bytes, but needs at least ${SECRET_BYTES_MIN}`,
  facts: { bytes },
})) {}

/** Signed first byte of every cursor. Another layout gets another number. */
const VERSION = 1;
const SIGNATURE_BYTES = 16;
const JSON_AT = 1 + SIGNATURE_BYTES;
const SECRET_BYTES_MIN = 16;
const TEXT_LENGTH_MAX = 12_288;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** Base64url of version, HMAC-SHA256 (16 bytes), JSON. @throws WeakSecretError below 16 bytes */
export function createCursorCodec(secret: Uint8Array): CursorCodec {
  if (secret.length < SECRET_BYTES_MIN) throw new WeakSecretError(secret.length);
  const sign = createSigner(secret);
  const signatureOf = (signed: Uint8Array): Buffer => sign(signed).subarray(0, SIGNATURE_BYTES);
  return {
    encode: (payload) => {
      const json = JSON.stringify(payload);
      const bytes = Buffer.allocUnsafe(JSON_AT + Buffer.byteLength(json));
      bytes.write(json, JSON_AT);
      // Before the JSON, so that the signed bytes are contiguous.
      bytes[JSON_AT - 1] = VERSION;
      const signature = signatureOf(bytes.subarray(JSON_AT - 1));
      bytes[0] = VERSION;
      bytes.set(signature, 1);
      return bytes.toString('base64url');
    },
    decode: (text) => {
      const bytes = decodeText(text);
      if (bytes[0] !== VERSION) throw new InvalidCursorError('its version is unknown');
      const signed = Buffer.concat([Uint8Array.of(VERSION), bytes.subarray(JSON_AT)]);
      // Invariant: PAGE-SIGNED-CURSOR
      if (!timingSafeEqual(bytes.subarray(1, JSON_AT), signatureOf(signed)))
        throw new InvalidCursorError('its signature does not fit');
      return JSON.parse(bytes.toString('utf8', JSON_AT));
    },
  };
}

function decodeText(text: string): Buffer {
  if (text.length > TEXT_LENGTH_MAX) throw new InvalidCursorError('it is too long');
  if (!BASE64URL.test(text)) throw new InvalidCursorError('it is not base64url');
  const bytes = Buffer.from(text, 'base64url');
  // Unused bits of the last character would make several texts the same cursor.
  if (bytes.toString('base64url') !== text) throw new InvalidCursorError('it is not base64url');
  if (bytes.length <= JSON_AT) throw new InvalidCursorError('it is too short');
  return bytes;
}

const BLOCK_BYTES = 64;
const INNER = 0x36;
const OUTER = 0x5c;

/** HMAC-SHA256 (RFC 2104). `createHmac` sets up its key each time and takes three times as long. */
export function createSigner(key: Uint8Array): (bytes: Uint8Array) => Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key);
  const inner = block.map((byte) => byte ^ INNER);
  const outer = block.map((byte) => byte ^ OUTER);
  return (bytes) =>
    hash('sha256', Buffer.concat([outer, hash('sha256', Buffer.concat([inner, bytes]), 'buffer')]), 'buffer');
}
