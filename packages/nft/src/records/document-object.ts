import { parseLosslessJson } from '@chainstead/core';

/** A stored document, read. */
export interface TokenDocument {
  /** As it was read. */
  readonly text: string;
  /** Numbers that a double would change are `ExactNumber`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Null where the text is not a JSON object: clients of the hosted provider read `metadata` as one. */
export function readDocument(text: string | null): TokenDocument | null {
  if (text === null) return null;
  let value: unknown;
  try {
    value = parseLosslessJson(text);
  } catch {
    // Not JSON: what a contract names may be anything.
    return null;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { text, fields: Object(value) } : null;
}
