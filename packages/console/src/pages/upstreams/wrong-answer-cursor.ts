import { InvalidParameterError } from '@chainstead/http';
import type { WrongAnswerCursor } from '@chainstead/sync';
import { z } from 'zod';

const TEXT_MAX = 4_000;
const MICROSECONDS_MAX = 8.64e18;
const cursor = z.tuple([z.number().min(0).max(MICROSECONDS_MAX), z.string()]);

/** Returns a position in the list, for URLs. */
export function writeCursor({ seenAt, key }: WrongAnswerCursor): string {
  return Buffer.from(JSON.stringify([seenAt, key])).toString('base64url');
}

/** @throws InvalidParameterError */
export function readCursor(given: string | undefined): WrongAnswerCursor | null {
  if (given === undefined || given === '') return null;
  const parsed = cursor.safeParse(parse(given));
  if (!parsed.success)
    throw new InvalidParameterError({ parameter: 'before', given, allowed: 'the cursor of a link on the page' });
  const [seenAt, key] = parsed.data;
  // Postgres accepts no NUL.
  return { seenAt, key: key.replaceAll('\0', '') };
}

function parse(given: string): unknown {
  if (given.length > TEXT_MAX) return undefined;
  try {
    return JSON.parse(Buffer.from(given, 'base64url').toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
