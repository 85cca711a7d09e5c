import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keccak256Hex } from '@chainstead/proof';
import { recordedEvmFolder } from '@chainstead/testkit';
import { type Hex, numberToHex, parseTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import { encodeTransaction, type TransactionJson } from './encode-transaction.ts';

/** The first key of the devnets' test mnemonic. */
const ACCOUNT = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');
const TO = `0x${'35'.repeat(20)}` as const;
const KEY = `0x${'00'.repeat(31)}07` as const;
const accessList = [{ address: TO, storageKeys: [KEY, KEY] }];
const fees = { maxFeePerGas: 30_000_000_000n, maxPriorityFeePerGas: 1n };
const base = { chainId: 1, nonce: 0, gas: 21_000n, to: TO, value: 10n ** 18n, data: '0x00ff' as const };

/** A node's JSON of a signed transaction. */
function toJson(signed: Hex, type: number): TransactionJson {
  const json: Record<string, unknown> = {
    type: numberToHex(type),
    nonce: '0x0',
    value: '0x0',
    accessList: [],
    input: '0x',
  };
  for (const [name, value] of Object.entries<unknown>(parseTransaction(signed)))
    if (name !== 'type') json[name === 'data' ? 'input' : name] = toWire(name, value);
  return json;
}

/** Numbers and signatures are quantities: nodes leave leading zeros out. */
function toWire(name: string, value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return numberToHex(value);
  if (name === 'r' || name === 's') return numberToHex(BigInt(String(value)));
  if (name === 'authorizationList' && Array.isArray(value))
    return value.map((one: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(one).map(([field, inner]) => [field, toWire(field, inner)])),
    );
  return value;
}

const TYPES: readonly [string, number, () => Promise<Hex>][] = [
  ['legacy', 0, () => ACCOUNT.signTransaction({ ...base, type: 'legacy', gasPrice: 20n })],
  ['a contract’s creation', 0, () => ACCOUNT.signTransaction({ ...base, to: null, type: 'legacy', gasPrice: 20n })],
  ['access list (EIP-2930)', 1, () => ACCOUNT.signTransaction({ ...base, type: 'eip2930', gasPrice: 20n, accessList })],
  ['dynamic fee (EIP-1559)', 2, () => ACCOUNT.signTransaction({ ...base, ...fees, type: 'eip1559', accessList })],
  [
    'blob (EIP-4844)',
    3,
    () =>
      ACCOUNT.signTransaction({
        ...base,
        ...fees,
        type: 'eip4844',
        maxFeePerBlobGas: 5n,
        blobVersionedHashes: [`0x01${'22'.repeat(31)}`],
        accessList,
      }),
  ],
  [
    'set code (EIP-7702)',
    4,
    async () => {
      const authorization = await ACCOUNT.signAuthorization({ address: TO, chainId: 1, nonce: 1 });
      return ACCOUNT.signTransaction({ ...base, ...fees, type: 'eip7702', authorizationList: [authorization] });
    },
  ],
];

describe('the bytes of a transaction', () => {
  test.each(TYPES)('%s are those that were signed', async (_name, type, sign) => {
    const signed = await sign();
    const encoded = encodeTransaction(toJson(signed, type));
    expect(`0x${encoded?.toString('hex')}`).toBe(signed);
  });

  // Base Goerli's block 1,041,847, its deposit.
  test('of an OP Stack deposit hash to its hash', () => {
    const folder = recordedEvmFolder();
    if (folder === null) {
      process.stderr.write('Recorded blocks are not there (../shared/data/evm): deposits are not tested.\n');
      return;
    }
    const block: { transactions: TransactionJson[] } = JSON.parse(
      readFileSync(join(folder, 'base-goerli/1041847/block.json'), 'utf8'),
    );
    const deposits = block.transactions.filter(({ type }) => type === '0x7e');
    expect(deposits.length).toBeGreaterThan(0);
    for (const deposit of deposits)
      expect(keccak256Hex(encodeTransaction(deposit) ?? Buffer.alloc(0))).toBe(deposit.hash);
  });

  test.each<[string, TransactionJson]>([
    ['an unknown type', { type: '0x6a', nonce: '0x0' }],
    [
      'a missing signature',
      { type: '0x0', nonce: '0x0', gasPrice: '0x1', gas: '0x1', to: TO, value: '0x0', input: '0x' },
    ],
    ['no quantity', { type: '0x0', nonce: 'x' }],
    ['something that is not a type', { type: {} }],
  ])('of %s cannot be told', (_what, json) => {
    expect(encodeTransaction(json)).toBeNull();
  });
});
