import { parseLosslessJson } from '@chainstead/core';
import { DocumentError } from './document-error.ts';
import type { Document } from './fetch-document.ts';

/** A JSON document whose root is an object. */
export interface JsonDocument {
  readonly fields: Readonly<Record<string, unknown>>;
  /** The original text, valid for a text column and for `::jsonb`: no NUL, no half of a surrogate pair. */
  readonly text: string;
}

/** Maximum nesting depth of objects and arrays. */
export const JSON_DEPTH_MAX = 32;

/**
 * Parses a document as JSON, whatever its media type. A byte order mark is skipped, and bytes that are not UTF-8 become
 * replacement characters. Depth is measured before anything is parsed.
 * @throws DocumentError DOCUMENT_NOT_JSON, DOCUMENT_TOO_DEEP
 */
export function readJsonDocument(document: Pick<Document, 'bytes' | 'decoded'>): JsonDocument {
  const first = parse(document.bytes);
  const found = first === undefined && document.decoded !== null ? parse(document.decoded) : first;
  if (found === undefined) throw notJson(`it begins ${excerpt(document.bytes)}`);
  if (typeof found.value !== 'object' || found.value === null || Array.isArray(found.value))
    throw notJson('its top is something else');
  const fields = Object(found.value);
  return { fields, text: storable(found.text) };
}

/** Returns undefined if it is not JSON. */
function parse(bytes: Uint8Array): { readonly value: unknown; readonly text: string } | undefined {
  const text = new TextDecoder().decode(bytes).replaceAll('\0', '').trim();
  if (depthOf(text) > JSON_DEPTH_MAX)
    throw new DocumentError({
      code: 'DOCUMENT_TOO_DEEP',
      message: `The document is nested deeper than ${JSON_DEPTH_MAX} levels`,
    });
  try {
    return { value: parseLosslessJson(text), text };
  } catch {
    return undefined;
  }
}

/** Returns the nesting depth of brackets outside strings. Stops above the limit. One pass for any text. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length && deepest <= JSON_DEPTH_MAX; at++) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return deepest;
}

/**
 * Drops NUL escapes and replaces escaped surrogate halves, both of which Postgres rejects. All else keeps its spelling.
 */
function storable(text: string): string {
  return text.replace(ESCAPES, (written, refused?: string) =>
    refused === undefined ? written : refused === '0000' ? '' : REPLACEMENT,
  );
}

/** A whole surrogate pair, a rejected escape (its group), or any other escape. */
const ESCAPES = /\\ud[89ab]..\\ud[c-f]..|\\u(0000|d[89a-f]..)|\\./gis;
/** The Unicode replacement character, escaped. */
const REPLACEMENT = '\\ufffd';

function notJson(reason: string): DocumentError {
  return new DocumentError({ code: 'DOCUMENT_NOT_JSON', message: `The document is not a JSON object: ${reason}` });
}

function excerpt(bytes: Uint8Array): string {
  const start = new TextDecoder().decode(bytes.subarray(0, 40));
  return JSON.stringify(start.replaceAll('\0', ''));
}
