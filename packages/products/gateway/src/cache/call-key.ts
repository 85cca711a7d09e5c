import { hash } from 'node:crypto';
import { isObject } from '@chainstead/core';

type Kind = 'any' | 'quantity' | 'block' | 'transaction' | 'filter';

const SHAPES: Readonly<Record<string, readonly Kind[]>> = {
  eth_call: ['transaction', 'block'],
  eth_createAccessList: ['transaction', 'block'],
  eth_estimateGas: ['transaction', 'block'],
  eth_feeHistory: ['quantity', 'block'],
  eth_getBalance: ['any', 'block'],
  eth_getBlockByNumber: ['block'],
  eth_getBlockReceipts: ['block'],
  eth_getBlockTransactionCountByNumber: ['block'],
  eth_getCode: ['any', 'block'],
  eth_getLogs: ['filter'],
  eth_getProof: ['any', 'any', 'block'],
  eth_getStorageAt: ['any', 'quantity', 'block'],
  eth_getStorageValues: ['any', 'block'],
  eth_getTransactionByBlockHashAndIndex: ['any', 'quantity'],
  eth_getTransactionByBlockNumberAndIndex: ['block', 'quantity'],
  eth_getTransactionCount: ['any', 'block'],
  eth_getUncleByBlockHashAndIndex: ['any', 'quantity'],
  eth_getUncleByBlockNumberAndIndex: ['block', 'quantity'],
  eth_getUncleCountByBlockNumber: ['block'],
};

const UNSHAPED: readonly Kind[] = [];

const TRANSACTION_QUANTITIES: ReadonlySet<string> = new Set(
  'chainId gas gasPrice maxFeePerBlobGas maxFeePerGas maxPriorityFeePerGas nonce type value'.split(' '),
);
const HEX = /^0x[0-9a-fA-F]*$/;
const PLAIN_NAME = /^\w+$/;
const UPPER_CASE = /[A-F]/;
/** Characters. A hash replaces longer keys. */
const KEY_MAX = 2_048;
/** A hash is no quantity: its leading zeros count. */
const HASH_LENGTH = 66;

/** The same for spellings of one call: letter case, leading zeros, order. @throws RangeError */
export function callKey(method: string, params: readonly unknown[]): string {
  const shape = SHAPES[method] ?? UNSHAPED;
  let text = method;
  let separator = '[';
  for (const [index, param] of params.entries()) {
    text += separator + canonical(param, shape[index] ?? 'any');
    separator = ',';
  }
  return text.length > KEY_MAX ? `${method}#${hash('sha256', text)}` : text;
}

function canonical(value: unknown, kind: Kind): string {
  if (typeof value === 'string') return canonicalText(value, kind);
  if (typeof value === 'number' && kind === 'quantity' && Number.isSafeInteger(value) && value >= 0)
    return `"0x${value.toString(16)}"`;
  if (Array.isArray(value)) return `[${value.map((item: unknown) => canonical(item, 'any')).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  if (kind === 'block' && 'blockNumber' in value && Object.keys(value).length === 1)
    return canonical(value.blockNumber, 'block');
  return canonicalObject(value, kind);
}

function canonicalText(text: string, kind: Kind): string {
  if (!HEX.test(text)) return JSON.stringify(text);
  const lower = UPPER_CASE.test(text) ? text.toLowerCase() : text;
  const isQuantity = kind === 'quantity' || (kind === 'block' && text.length !== HASH_LENGTH);
  return `"${isQuantity ? lower.replace(/^0x0+(?=.)/, '0x') : lower}"`;
}

function canonicalObject(members: Readonly<Record<string, unknown>>, kind: Kind): string {
  let text = '{';
  for (const name of Object.keys(members).sort()) {
    const value = members[name];
    if (value === undefined || (name === 'requireCanonical' && value === false)) continue;
    if (text.length > 1) text += ',';
    text += `${PLAIN_NAME.test(name) ? `"${name}"` : JSON.stringify(name)}:${canonicalMember(name, value, kind)}`;
  }
  return `${text}}`;
}

function canonicalMember(name: string, value: unknown, kind: Kind): string {
  if (kind === 'transaction') return canonical(value, TRANSACTION_QUANTITIES.has(name) ? 'quantity' : 'any');
  if (kind === 'block') return canonical(value, name === 'blockNumber' ? 'block' : 'any');
  if (kind !== 'filter') return canonical(value, 'any');
  if (name === 'fromBlock' || name === 'toBlock') return canonical(value, 'block');
  if (name === 'address') return alternatives(value);
  if (name === 'topics' && Array.isArray(value)) return `[${value.map(alternatives).join(',')}]`;
  return canonical(value, 'any');
}

/** A single value equals a list of one; order does not count. */
function alternatives(value: unknown): string {
  if (typeof value === 'string') return `[${canonicalText(value, 'any')}]`;
  if (!Array.isArray(value)) return canonical(value, 'any');
  const texts = new Set(value.map((item: unknown) => canonical(item, 'any')));
  return `[${[...texts].sort().join(',')}]`;
}

const BLOCK_NUMBER = Buffer.from('"blockNumber"');
const NUMBER = Buffer.from('"number"');
const QUANTITY = /^\s*:\s*"0x0*([0-9a-fA-F]{1,13})"/;
const LOOKED_AT = 40;

type BlockMember = 'number' | 'blockNumber';

/** Without parsing. Null: no number (a pending transaction). `last`: the highest, for logs. */
export function blockInResult(
  result: Buffer,
  member: BlockMember,
  which: 'first' | 'last' = 'first',
): number | null {
  const name = member === 'number' ? NUMBER : BLOCK_NUMBER;
  const at = which === 'first' ? result.indexOf(name) : result.lastIndexOf(name);
  if (at === -1) return null;
  const after = at + name.length;
  const digits = QUANTITY.exec(result.toString('latin1', after, after + LOOKED_AT))?.[1];
  return digits === undefined ? null : Number.parseInt(digits, 16);
}
