const BLOCK_NUMBER = Buffer.from('"blockNumber"');
const NUMBER = Buffer.from('"number"');
const QUANTITY = /^\s*:\s*"0x0*([0-9a-fA-F]{1,13})"/;
const LOOKED_AT = 40;

export type BlockMember = 'number' | 'blockNumber';

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
