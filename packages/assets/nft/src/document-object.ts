import { parseLosslessJson } from '@chainstead/core';

export interface TokenDocument {
  readonly text: string;
  /** Numbers that a double would change are `ExactNumber`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Null if it is not a JSON object: clients of the hosted API parse `metadata` as one. */
export function readDocument(text: string | null): TokenDocument | null {
  if (text === null) return null;
  let value: unknown;
  try {
    value = parseLosslessJson(text);
  } catch {
    return null;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { text, fields: Object(value) }
    : null;
}
