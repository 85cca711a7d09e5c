import { ChainsteadError, errorText } from '@chainstead/core';

/** SQLSTATE of a table that does not exist. */
const UNDEFINED_TABLE = '42P01';

/** What a person needs to read of anything that was thrown: our own errors in one sentence, others with their stack. */
export function describeError(thrown: unknown): string {
  if (thrown instanceof ChainsteadError) return `${thrown.message} [${thrown.code}]`;
  if (thrown instanceof Error && 'code' in thrown && thrown.code === UNDEFINED_TABLE)
    return `The database has not been prepared (${thrown.message}). Run "chainstead migrate"`;
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : errorText(thrown);
}
