import { JsonBoundsError, parseLosslessJson, requireModestJson } from '@chainstead/core';
import type { Egress, EgressResponse } from '@chainstead/egress';
import { type ContentId, DocumentError, isBlockOf } from './document-place.ts';

export interface Document {
  readonly bytes: Uint8Array;
  /** As declared by the URI or the server; never relied on. */
  readonly mediaType: string | null;
  /** Null: the bytes can't be proven to match an IPFS identifier. */
  readonly verified: boolean | null;
  readonly decoded: Uint8Array | null;
}

/** Bytes, both as sent and after decompression. */
export const DOCUMENT_BYTES_MAX = 2_097_152;
const REDIRECTS_MAX = 5;
/** Common implementations write files up to this size as one block: anything else is forged. */
const SINGLE_BLOCK_BYTES = 262_144;

/** Both throw DocumentError, EgressError, or the signal's reason. */
export function createDocumentFetch(egress: Egress, bytesMax: number = DOCUMENT_BYTES_MAX) {
  async function get(
    url: string,
    accept: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<EgressResponse> {
    const response = await egress.request({
      url,
      headers: { accept, 'user-agent': 'chainstead' },
      redirects: REDIRECTS_MAX,
      timeoutMs,
      maxResponseBytes: bytesMax,
      signal,
    });
    if (response.status >= 200 && response.status < 300) return response;
    const { host } = new URL(response.url);
    throw new DocumentError({
      code: 'DOCUMENT_HTTP_STATUS',
      message: `${host} returned ${response.status}`,
      facts: { host, status: response.status },
      retryable: true,
    });
  }

  async function getPlain(url: string, timeoutMs: number, signal: AbortSignal): Promise<Document> {
    const response = await get(url, 'application/json, image/*, */*;q=0.5', timeoutMs, signal);
    return { bytes: response.body, mediaType: mediaTypeOf(response), verified: null, decoded: null };
  }

  async function getBlock(url: string, id: ContentId, timeoutMs: number, signal: AbortSignal): Promise<Document> {
    const requested = new URL(url);
    requested.searchParams.set('format', 'raw');
    const response = await get(requested.href, 'application/vnd.ipld.raw, */*;q=0.5', timeoutMs, signal);
    const content = provenContent(id, response.body);
    if (content !== null) return { bytes: content, mediaType: null, verified: true, decoded: null };
    const isLarger = isBlockOf(id, response.body) === true;
    return isLarger ? getPlain(url, timeoutMs, signal) : unprovenAnswer(id, response);
  }

  return { getPlain, getBlock };
}

/** The block itself for `raw`, or the file in a `dag-pb` block that holds a whole one. */
function provenContent(id: ContentId, block: Uint8Array): Uint8Array | null {
  if (isBlockOf(id, block) === true) {
    if (id.codec === 'raw') return block;
    const unixfs = readUnixfsBlock(block);
    return unixfs?.kind === 'file' ? unixfs.content : null;
  }
  // The gateway returned the file, so the block is rebuilt.
  return id.codec === 'dag-pb' && isBlockOf(id, writeUnixfsFile(block)) === true ? block : null;
}

/** A small file would have been proven: this is a different one. */
function unprovenAnswer(id: ContentId, response: EgressResponse): Document {
  if (id.codec === 'dag-pb' && response.body.length > SINGLE_BLOCK_BYTES)
    return { bytes: response.body, mediaType: mediaTypeOf(response), verified: null, decoded: null };
  const { host } = new URL(response.url);
  throw new DocumentError({
    code: 'DOCUMENT_CID_MISMATCH',
    message: `${host} returned bytes that do not match ${id.text}`,
    facts: { host, cid: id.text },
    retryable: true,
  });
}

function mediaTypeOf({ headers }: EgressResponse): string | null {
  const type = headers['content-type'];
  return typeof type === 'string' ? (type.split(';')[0] ?? '').trim().toLowerCase() || null : null;
}

type UnixfsBlock =
  /** A whole file in this one block. */
  | { readonly kind: 'file'; readonly content: Uint8Array }
  /** The root of a file in several blocks. */
  | { readonly kind: 'file-root' }
  | { readonly kind: 'other' };

/** Null if it is not a dag-pb block with a UnixFS node. Never throws. */
function readUnixfsBlock(block: Uint8Array): UnixfsBlock | null {
  const node = readFields(block);
  const data = node?.find(({ number }) => number === NODE_DATA)?.bytes;
  const fields = data == null ? null : readFields(data);
  if (node === null || fields === null) return null;
  const type = fields.find(({ number }) => number === FILE_TYPE)?.value;
  if (type !== TYPE_RAW && type !== TYPE_FILE) return type === undefined ? null : { kind: 'other' };
  if (node.some(({ number }) => number === NODE_LINKS)) return { kind: 'file-root' };
  return { kind: 'file', content: fields.find(({ number }) => number === FILE_DATA)?.bytes ?? new Uint8Array() };
}

/** As common implementations write a file of one block. */
export function writeUnixfsFile(content: Uint8Array): Uint8Array {
  const data = content.length === 0 ? [] : [tag(FILE_DATA, LENGTH_DELIMITED), ...varint(content.length), content];
  const file = join([
    tag(FILE_TYPE, VARINT),
    TYPE_FILE,
    ...data,
    tag(FILE_SIZE, VARINT),
    ...varint(content.length),
  ]);
  return join([tag(NODE_DATA, LENGTH_DELIMITED), ...varint(file.length), file]);
}

const NODE_DATA = 1;
const NODE_LINKS = 2;
const FILE_TYPE = 1;
const FILE_DATA = 2;
const FILE_SIZE = 3;
const TYPE_RAW = 0;
const TYPE_FILE = 2;
const VARINT = 0;
const LENGTH_DELIMITED = 2;

interface Field {
  readonly number: number;
  readonly value: number | null;
  readonly bytes: Uint8Array | null;
}

function readFields(message: Uint8Array): Field[] | null {
  const fields: Field[] = [];
  for (let at = 0; at < message.length; ) {
    const head = readVarint(message, at);
    const value = head === null ? null : readVarint(message, head.next);
    if (head === null || value === null) return null;
    const number = Math.floor(head.value / 8);
    const wireType = head.value % 8;
    if (wireType === VARINT) {
      fields.push({ number, value: value.value, bytes: null });
      at = value.next;
    } else if (wireType === LENGTH_DELIMITED && value.value <= message.length - value.next) {
      at = value.next + value.value;
      fields.push({ number, value: null, bytes: message.subarray(value.next, at) });
    } else return null;
  }
  return fields;
}

function readVarint(
  message: Uint8Array,
  start: number,
): { readonly value: number; readonly next: number } | null {
  let value = 0;
  for (
    let at = start, weight = 1;
    at < message.length && weight <= Number.MAX_SAFE_INTEGER;
    at++, weight *= 128
  ) {
    const byte = message[at] ?? 0;
    value += (byte % 128) * weight;
    if (byte < 128) return { value, next: at + 1 };
  }
  return null;
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

function tag(number: number, wireType: number): number {
  return number * 8 + wireType;
}

function join(pieces: readonly (number | Uint8Array)[]): Uint8Array {
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'number' ? Buffer.of(piece) : piece)));
}

export const JSON_DEPTH_MAX = 32;
/** Parsed for exact numbers, values take up to 120 times their bytes for a moment. */
const MEASURED_FROM_BYTES = 64 * 1024;

/** `text` is valid for `::jsonb`. @throws DocumentError DOCUMENT_NOT_JSON, DOCUMENT_TOO_DEEP, DOCUMENT_TOO_LARGE */
export function readJsonDocument(document: Pick<Document, 'bytes' | 'decoded'>) {
  const first = parse(document.bytes);
  const json = first === undefined && document.decoded !== null ? parse(document.decoded) : first;
  if (json === undefined) {
    const start = new TextDecoder().decode(document.bytes.subarray(0, 40)).replaceAll('\0', '');
    throw notJson(`it begins ${JSON.stringify(start)}`);
  }
  if (typeof json.value !== 'object' || json.value === null || Array.isArray(json.value))
    throw notJson('its top is something else');
  // Postgres rejects NUL escapes and escaped surrogate halves.
  const text = json.text.replace(ESCAPES, (written, refused?: string) => {
    if (refused === undefined) return written;
    return refused === '0000' ? '' : '\\ufffd';
  });
  const fields: Readonly<Record<string, unknown>> = Object(json.value);
  return { fields, text };
}

function parse(bytes: Uint8Array): { readonly value: unknown; readonly text: string } | undefined {
  const text = new TextDecoder().decode(bytes).replaceAll('\0', '').trim();
  requireModest(Buffer.from(text));
  try {
    return { value: parseLosslessJson(text), text };
  } catch {
    return undefined;
  }
}

/** @throws DocumentError */
function requireModest(json: Uint8Array): void {
  try {
    // Invariant: HTTP-BODY-BOUNDED
    requireModestJson(json, { depthMax: JSON_DEPTH_MAX, fromBytes: MEASURED_FROM_BYTES });
  } catch (error) {
    if (!(error instanceof JsonBoundsError)) throw error;
    if (error.code === 'JSON_TOO_DEEP')
      throw new DocumentError({
        code: 'DOCUMENT_TOO_DEEP',
        message: `The document is nested deeper than ${JSON_DEPTH_MAX} levels`,
      });
    throw new DocumentError({
      code: 'DOCUMENT_TOO_LARGE',
      message: `The document of ${json.length} bytes holds too many values`,
    });
  }
}

/** A whole surrogate pair, a rejected escape (its group), or any other escape. */
const ESCAPES = /\\ud[89ab]..\\ud[c-f]..|\\u(0000|d[89a-f]..)|\\./gis;
function notJson(reason: string): DocumentError {
  return new DocumentError({
    code: 'DOCUMENT_NOT_JSON',
    message: `The document is not a JSON object: ${reason}`,
  });
}
