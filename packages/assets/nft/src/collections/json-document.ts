import { parseLosslessJson } from '@chainstead/core';
import { DocumentError } from './document-error.ts';
import type { Document } from './fetch-document.ts';

export const JSON_DEPTH_MAX = 32;

/** `text` is valid for `::jsonb`. @throws DocumentError DOCUMENT_NOT_JSON, DOCUMENT_TOO_DEEP */
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

/** A whole surrogate pair, a rejected escape (its group), or any other escape. */
const ESCAPES = /\\ud[89ab]..\\ud[c-f]..|\\u(0000|d[89a-f]..)|\\./gis;
function notJson(reason: string): DocumentError {
  return new DocumentError({
    code: 'DOCUMENT_NOT_JSON',
    message: `The document is not a JSON object: ${reason}`,
  });
}
