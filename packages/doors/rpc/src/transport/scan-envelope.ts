import { createValueScanner, isSpace, type ValueScanner } from './value-scanner.ts';

/** `end` is exclusive. */
export type ByteSpan = { readonly start: number; readonly end: number };

/** If a member repeats, the last one wins. */
export interface Envelope {
  readonly id: ByteSpan | null;
  readonly result: ByteSpan | null;
  readonly error: ByteSpan | null;
}

export type ScannedEnvelope =
  /** An object, or a list of one, and nothing after. */
  | ({ readonly kind: 'complete' } & Envelope)
  | {
      readonly kind: 'open-result';
      readonly id: ByteSpan | null;
      readonly error: ByteSpan | null;
      readonly isList: boolean;
      readonly start: number;
      readonly scanner: ValueScanner;
    }
  | { readonly kind: 'other' };

const OTHER: ScannedEnvelope = { kind: 'other' };
const [QUOTE, COMMA, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x22, 0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d];
const PRIMITIVE = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** JSON-RPC 2.0, section 5. Inside values, only strings and brackets are checked. */
export function scanEnvelope(bytes: Buffer): ScannedEnvelope {
  let at = skipSpace(bytes, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);
  const isList = bytes[at] === OPEN_LIST;
  if (isList) at = skipSpace(bytes, at + 1);
  if (bytes[at] !== OPEN) return OTHER;
  at = skipSpace(bytes, at + 1);
  let id: ByteSpan | null = null;
  let result: ByteSpan | null = null;
  let error: ByteSpan | null = null;
  if (bytes[at] === CLOSE) return OTHER;
  for (;;) {
    const name = scanName(bytes, at);
    if (name === null) return OTHER;
    const start = name.valueAt;
    const scanner = createValueScanner();
    const end = startsValue(bytes[start]) ? scanner.scan(bytes, start) : -1;
    if (end < 0) {
      const isOpen = name.text === 'result' && start < bytes.length && startsValue(bytes[start]);
      return isOpen ? { kind: 'open-result', id, error, isList, start, scanner } : OTHER;
    }
    if (!isValue(bytes, start, end)) return OTHER;
    if (name.text === 'result') result = { start, end };
    else if (name.text === 'id') id = { start, end };
    else if (name.text === 'error') error = { start, end };
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE) break;
    if (bytes[at] !== COMMA) return OTHER;
    at = skipSpace(bytes, at + 1);
  }
  at = skipSpace(bytes, at + 1);
  if (isList) {
    if (bytes[at] !== CLOSE_LIST) return OTHER;
    at = skipSpace(bytes, at + 1);
  }
  return at === bytes.length ? { kind: 'complete', id, result, error } : OTHER;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

function scanName(bytes: Buffer, at: number): { readonly text: string; readonly valueAt: number } | null {
  if (bytes[at] !== QUOTE) return null;
  const end = createValueScanner().scan(bytes, at);
  if (end < 0) return null;
  const colon = skipSpace(bytes, end);
  if (bytes[colon] !== COLON) return null;
  const text = bytes.toString('utf8', at + 1, end - 1);
  return { text: text.includes('\\') ? unescapeName(text) : text, valueAt: skipSpace(bytes, colon + 1) };
}

function unescapeName(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return '';
  }
}

function startsValue(byte: number | undefined): boolean {
  return byte !== undefined && byte !== COMMA && byte !== CLOSE && byte !== CLOSE_LIST && byte !== COLON;
}

function isValue(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start];
  if (first === OPEN || first === OPEN_LIST || first === QUOTE) return true;
  return end - start < 400 && PRIMITIVE.test(bytes.toString('latin1', start, end));
}
