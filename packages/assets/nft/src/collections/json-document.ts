import { JsonBoundsError, parseLosslessJson, requireModestJson } from '@chainstead/core';
import { DocumentError } from './document-error.ts';
import type { Document } from './fetch-document.ts';

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
