import { toQuantity } from '@chainstead/core';
import { textParameter } from '@chainstead/http';

/** A block as nodes take it: a tag, a number, or a hash (EIP-1898). */
export type CallBlock = string | { readonly blockHash: string };

const BLOCK = `a block number (a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, decimal or hexadecimal with 0x), a block hash (0x and 64 hexadecimal digits), latest, safe, finalized, earliest or pending`;
const TAGS: ReadonlySet<string> = new Set(['latest', 'safe', 'finalized', 'earliest', 'pending']);

/** After which block a contract is asked. */
export const blockParameter = textParameter(BLOCK, parseBlock)
  .optional()
  .openapi({ type: 'string', description: `The state after this block. Default latest. Otherwise ${BLOCK}.` });

function parseBlock(given: string): CallBlock | undefined {
  const text = given.toLowerCase();
  if (TAGS.has(text)) return text;
  if (/^0x[0-9a-f]{64}$/.test(text)) return { blockHash: text };
  const number = /^(?:\d{1,16}|0x[0-9a-f]{1,14})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? toQuantity(number) : undefined;
}
