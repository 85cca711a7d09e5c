import { keccak256Hex } from '@chainstead/core';
import fc from 'fast-check';
import { serializeTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it, test } from 'vitest';
import { committedTransactions, contradictsSenders } from '../blocks/prove-transactions.ts';
import { RECORDINGS, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import { SIGNED_TRANSACTIONS } from '../testing/signed-transactions.ts';
import { checkSender, recoverSenders } from './recover-sender.ts';
import { checkTransactionHash } from './transaction-encoding.ts';
import type { TransactionJson } from './transaction-fields.ts';

/** A devnet's first account, which signed the examples. */
const SIGNER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const ACCOUNT = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80');
const OTHER = `0x${'35'.repeat(20)}`;
const [legacy] = SIGNED_TRANSACTIONS;

describe('the sender of a transaction', () => {
  test.each(SIGNED_TRANSACTIONS)('of $name follows from its signature', async ({ json }) => {
    expect(await recoverSenders([json])).toEqual([SIGNER]);
    expect(checkSender({ ...json, from: SIGNER })).toEqual({ result: 'verified' });
    expect(checkSender({ ...json, from: SIGNER.toUpperCase().replace('X', 'x') })).toEqual({
      result: 'verified',
    });
    expect(checkSender({ ...json, from: OTHER })).toEqual({ result: 'mismatch', recovered: SIGNER });
  });

  it('of all of a block is compared, of those that hash to their hash', async () => {
    const named = SIGNED_TRANSACTIONS.map(({ json, raw }) => ({
      ...json,
      from: SIGNER,
      hash: keccak256Hex(Buffer.from(raw.slice(2), 'hex')),
    }));
    expect(await contradictsSenders(named)).toBeNull();
    const last = { ...named.at(-1), from: OTHER };
    expect(await contradictsSenders([...named.slice(0, -1), last])).toMatchObject({
      level: 'unproven',
      reason: 'sender-mismatch',
      computed: OTHER,
      expected: expect.stringContaining(SIGNER),
    });
    expect(await contradictsSenders([{ ...last, hash: `0x${'77'.repeat(32)}` }])).toBeNull();
  });

  it('is what those say who are given the signatures; nobody is asked for what carries none', async () => {
    const signed = SIGNED_TRANSACTIONS.map(({ json, raw }) => ({
      ...json,
      from: SIGNER,
      hash: keccak256Hex(Buffer.from(raw.slice(2), 'hex')),
    }));
    const requested: Uint8Array[] = [];
    const nobody = async (signatures: Uint8Array) => {
      requested.push(signatures);
      return new Uint8Array(20 * signed.length).fill(0x55);
    };
    expect(await contradictsSenders(signed, nobody)).toMatchObject({
      reason: 'sender-mismatch',
      expected: expect.stringContaining('0x5555'),
    });
    expect(requested).toHaveLength(1);
    expect(
      await contradictsSenders(
        [
          { ...signed[0], from: undefined },
          { type: '0x7e', from: SIGNER },
        ],
        nobody,
      ),
    ).toBeNull();
    expect(requested).toHaveLength(1);
  });

  it('is what viem signed, whatever the transaction', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          nonce: fc.nat(),
          value: fc.bigInt(0n, 2n ** 128n),
          gas: fc.bigInt(1n, 2n ** 40n),
          fee: fc.bigInt(0n, 2n ** 60n),
          data: fc.uint8Array({ maxLength: 200 }),
          chainId: fc.integer({ min: 1, max: 2 ** 31 }),
          key: fc.bigInt(1n, 2n ** 255n),
          creates: fc.boolean(),
          // Before EIP-155, signatures did not contain the chain.
          kind: fc.constantFrom('unchained', 'legacy', 'typed'),
        }),
        async ({ nonce, value, gas, fee, data, chainId, key, creates, kind }) => {
          const account = privateKeyToAccount(`0x${key.toString(16).padStart(64, '0')}`);
          const call = {
            ...(kind === 'unchained' ? {} : { chainId }),
            ...({ nonce, value, gas, data: `0x${Buffer.from(data).toString('hex')}` } as const),
            ...(creates ? {} : { to: `0x${'35'.repeat(20)}` as const }),
          };
          const isTyped = kind === 'typed';
          const transaction = isTyped
            ? ({ ...call, chainId, type: 'eip1559', maxFeePerGas: fee, maxPriorityFeePerGas: fee / 2n } as const)
            : ({ ...call, type: 'legacy', gasPrice: fee } as const);
          const { signature, raw } = await signed(account, transaction);
          const json: TransactionJson = {
            ...Object.fromEntries(Object.entries(call).map(([name, one]) => [name, quantity(one)])),
            ...{ type: isTyped ? '0x2' : '0x0', input: call.data, hash: keccak256Hex(raw), accessList: [] },
            ...{ gasPrice: quantity(fee), maxFeePerGas: quantity(fee), maxPriorityFeePerGas: quantity(fee / 2n) },
            ...{
              r: quantity(BigInt(signature.r)),
              s: quantity(BigInt(signature.s)),
              yParity: quantity(signature.yParity),
            },
            v: quantity(signature.yParity + { unchained: 27, legacy: chainId * 2 + 35, typed: 0 }[kind]),
          };
          expect(checkTransactionHash(json).result).toBe('verified');
          expect(await recoverSenders([json])).toEqual([account.address.toLowerCase()]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('of a deposit is part of what its hash commits to', () => {
    expect(checkSender({ type: '0x7e', from: OTHER })).toEqual({ result: 'verified' });
  });

  test.each<[string, TransactionJson]>([
    ['another type', { type: '0x71' }],
    ['no signature', { r: '0x0', s: '0x0' }],
    ['numbers outside the curve', { r: `0x${'f'.repeat(64)}` }],
    ['more than 32 bytes', { r: `0x1${'0'.repeat(64)}` }],
    ['no numbers', { r: 'x' }],
    ['a parity that is none', { v: '0x5' }],
    ['no sender', { from: null }],
    ['the small numbers of a bridge', { r: '0x1', s: '0x1' }],
  ])('is not told from %s', (_what, changes) => {
    expect(checkSender({ ...legacy?.json, from: OTHER, ...changes })).toEqual({ result: 'unchecked' });
  });

  it('may be known by small numbers that it was made from (ERC-2470)', async () => {
    const json = { ...legacy?.json, r: '0x247000', s: '0x2470', v: '0x1b' };
    const [from] = await recoverSenders([json]);
    expect(from).toMatch(/^0x[0-9a-f]{40}$/);
    expect(checkSender({ ...json, from })).toEqual({ result: 'verified' });
  });
});

const recorded = readRecordedBlocks();

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('the senders of recorded blocks'), () => {
  it('are those that were recorded, wherever the hash is right', () => {
    const results: Record<string, number> = {};
    for (const { block, chain, folder } of recorded)
      for (const one of committedTransactions(block.header, block.transactions, chain)) {
        if (checkTransactionHash(one).result !== 'verified') continue;
        const { result } = checkSender(one);
        results[result] = (results[result] ?? 0) + 1;
        expect(result, `${folder} ${String(one.hash)}`).not.toBe('mismatch');
      }
    expect(results.verified).toBeGreaterThan(5_000);
    expect(results.unchecked ?? 0).toBeLessThan(20);
  });
});

async function signed(account: typeof ACCOUNT, transaction: Parameters<typeof ACCOUNT.signTransaction>[0]) {
  let signature: { r: string; s: string; yParity: number } | null = null;
  const raw = await account.signTransaction(transaction, {
    serializer: (one, given) => {
      if (given !== undefined) signature = { r: given.r, s: given.s, yParity: given.yParity ?? 0 };
      return serializeTransaction(one as Parameters<typeof serializeTransaction>[0], given);
    },
  });
  if (signature === null) throw new Error('viem did not sign');
  const found: { r: string; s: string; yParity: number } = signature;
  return { signature: found, raw: Buffer.from(raw.slice(2), 'hex') };
}

function quantity(value: unknown): string | undefined {
  return typeof value === 'bigint' || typeof value === 'number' ? `0x${value.toString(16)}` : String(value);
}
