import type { PgCodec } from '@dataplan/pg';
import { z } from 'zod';
import { GraphqlRefusalError } from '../refusal.ts';

/** As texts of Postgres: buffers would not survive JSON. */
export function inCursor(codec: PgCodec): PgCodec {
  return { ...codec, fromPg: (text: string) => text };
}

/** The values after the library's digest. @throws GraphqlRefusalError */
export function cursorValues(cursor: string, count: number): readonly (string | null)[] {
  const values = valuesOf(cursor);
  if (values.length !== count) throw foreignCursor();
  return values;
}

export function foreignCursor(): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_ARGUMENT_INVALID',
    'after is no cursor of this list',
    'Pass endCursor of the page before, with the same arguments.',
  );
}

function valuesOf(cursor: string): readonly (string | null)[] {
  try {
    const [, ...values] = cursorShape.parse(JSON.parse(Buffer.from(cursor, 'base64').toString('utf8')));
    return values;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return [];
    throw error;
  }
}

const cursorShape = z.array(z.string().nullable());
