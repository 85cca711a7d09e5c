/** The fee of a transaction is the change of its payer's balance, apart from the value: on devnets, and by balances that blocks record. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { parseAddress, parseChainId, toQuantity } from '@chainstead/core';
import { parseReceipt } from '@chainstead/rpc';
import { executedTransaction } from '@chainstead/sync';
import { type Devnet, listRecordedBlocks, recordedEvmFolder, startDevnet } from '@chainstead/testkit';
import { type Hex, numberToHex, pad, parseEther, parseGwei } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { transactionRecord } from './transaction-record.ts';

type Json = Readonly<Record<string, unknown>>;

const registry = createChainRegistry();
const payer = privateKeyToAccount(`0x${'11'.repeat(32)}`);
const OTHER = parseAddress(`0x${'b2'.repeat(20)}`);

async function open(chainId: number, args: readonly string[]): Promise<Devnet> {
  const devnet = await startDevnet({ chainId, args });
  onTestFinished(() => devnet.stop());
  await devnet.client.setBalance({ address: payer.address, value: parseEther('9') });
  return devnet;
}

const requestFrom = ({ client }: Devnet, method: string, params: readonly unknown[]): Promise<unknown> =>
  client.request({ method, params } as never);

/** Sends a transaction of the payer; `more` are members that other nodes add to its receipt. Null: a member that they lack. */
async function feesOfSent(devnet: Devnet, transaction: Json, more: Json = {}) {
  const { client, chainId } = devnet;
  const before = await client.getBalance({ address: payer.address });
  const nonce = await client.getTransactionCount({ address: payer.address });
  const defaults = { to: OTHER, gas: 100_000n, nonce, chainId };
  const signed = await payer.signTransaction({ ...defaults, ...transaction } as never);
  const hash = await client.sendRawTransaction({ serializedTransaction: signed });
  await vi.waitFor(() => client.getTransactionReceipt({ hash }), { interval: 5, timeout: 10_000 });
  const receipt = (await requestFrom(devnet, 'eth_getTransactionReceipt', [hash])) as Json;
  // The transaction by its hash can still be a pending one at this time.
  const header = (await requestFrom(devnet, 'eth_getBlockByHash', [receipt.blockHash, true])) as Json;
  const [raw = {}] = header.transactions as readonly Json[];
  const executed = executedTransaction(raw, parseReceipt({ ...receipt, ...more }), 0);
  const record = transactionRecord(executed, { raw: header }, { id: parseChainId(chainId) });
  const value = record.status === 0 ? 0n : BigInt(record.value);
  const lost = before - (await client.getBalance({ address: payer.address }));
  return { lost: lost - value, fee: BigInt(record.fee), blobFee: BigInt(record.blobFee ?? 0), header };
}

describe('on a devnet, the payer loses', () => {
  test('the value and the fee, by all types of transactions', async () => {
    const devnet = await open(1, ['--hardfork', 'prague']);
    const capped = { maxFeePerGas: parseGwei('3'), maxPriorityFeePerGas: 7n };
    const authorization = await payer.signAuthorization({ address: OTHER, chainId: 1, nonce: 5 });
    const transactions: readonly Json[] = [
      { type: 'legacy', gasPrice: parseGwei('2'), value: 5n },
      { type: 'eip2930', gasPrice: parseGwei('2'), value: 6n, accessList: [{ address: OTHER, storageKeys: [] }] },
      { type: 'eip1559', ...capped, value: 7n },
      // Init code that reverts: the value stays, the fee does not.
      { type: 'eip1559', ...capped, value: 8n, to: null, data: '0x60006000fd' },
      { type: 'eip7702', ...capped, authorizationList: [authorization] },
    ];
    for (const transaction of transactions) {
      const { lost, fee } = await feesOfSent(devnet, transaction);
      expect(fee).toBe(lost);
      expect(fee).toBeGreaterThan(0n);
    }
  });

  test('the fee of blobs, at the price that follows from the header', async () => {
    const devnet = await open(1, ['--hardfork', 'cancun', '--timestamp', '1720000000']);
    const infinity = Uint8Array.from({ length: 48 }, (_, index) => (index === 0 ? 0xc0 : 0));
    // An empty blob is the zero polynomial: commitment and proof are the point at infinity.
    const kzg = { blobToKzgCommitment: () => infinity, computeBlobKzgProof: () => infinity };
    const blobs = Array.from({ length: 6 }, () => new Uint8Array(131_072));
    const prices = new Set<bigint>();
    for (let sent = 0; sent < 8; sent += 1) {
      const { lost, fee, blobFee } = await feesOfSent(
        devnet,
        {
          ...{ type: 'eip4844', blobs, kzg, maxFeePerBlobGas: 100n, value: 3n },
          ...{ maxFeePerGas: parseGwei('3'), maxPriorityFeePerGas: 1n },
        },
        { blobGasPrice: null, blobGasUsed: null },
      );
      expect(fee + blobFee).toBe(lost);
      prices.add(blobFee / (6n * 131_072n));
    }
    expect([...prices]).toEqual([1n, 2n]);
  });

  test.each([
    [5_000_000n, 0n],
    [0n, 7_000_000n],
    [4_000_000_123n, 70_000_000_001n],
  ])('the operator fee of Isthmus, with scalar %s and constant %s', async (scalar, constant) => {
    const devnet = await open(10, ['--network', 'optimism']);
    // The devnet has no contract `L1Block`, whose storage sets fees: the parent chain's are zero here.
    const slot = (index: number, value: bigint) =>
      requestFrom(devnet, 'anvil_setStorageAt', [L1_BLOCK, pad(numberToHex(index)), pad(numberToHex(value))]);
    await requestFrom(devnet, 'anvil_setCode', [L1_BLOCK, '0x00']);
    await slot(OPERATOR_FEE_SLOT, (scalar << 64n) | constant);
    const named = { operatorFeeScalar: toQuantity(scalar), operatorFeeConstant: toQuantity(constant) };
    const { lost, fee } = await feesOfSent(
      devnet,
      { type: 'eip1559', maxFeePerGas: parseGwei('3'), maxPriorityFeePerGas: 1n, value: 5n },
      { l1Fee: '0x0', ...named },
    );
    expect(fee).toBe(lost);
  });
});

const L1_BLOCK = '0x4200000000000000000000000000000000000015';
const OPERATOR_FEE_SLOT = 8;

const NATIVE_TOKEN = '0x0000000000000000000000000000000000001010';
/** `LogTransfer` and `LogFeeTransfer` of Polygon: amount, then balances of both sides before and after (bor `core/bor_fee_log.go`). */
const MOVED = '0xe6497e3ee548a3372136af2fcb0696db31fc6cf20260707645068bd3fe97f3c4';
const FEE_PAID = '0x4dfe1bbbcf077ddc3e01291eea2d5c70c2b422b415d95645b9adcfd678cb1d63';

interface BalanceLog {
  readonly event: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  /** The balance of `from`; for a fee, before the transaction. */
  readonly before: bigint;
}

function balanceLogs({ logs }: Json): BalanceLog[] {
  return (logs as readonly { address: string; topics: readonly Hex[]; data: Hex }[])
    .filter(({ address }) => address.toLowerCase() === NATIVE_TOKEN)
    .map(({ topics: [event = '0x', , from = '0x', to = '0x'], data }) => {
      const [amount = 0n, before = 0n] = [0, 1].map((word) =>
        BigInt(`0x${data.slice(2 + 64 * word, 66 + 64 * word)}`),
      );
      return { event, from: `0x${from.slice(-40)}`, to: `0x${to.slice(-40)}`, amount, before };
    });
}

describe.skipIf(recordedEvmFolder() === null)('in recorded blocks of Polygon, the payer loses', () => {
  test('the value and the fee, with the burned part, from one transaction to its next', () => {
    const chain = registry.get('polygon');
    const balances = new Map<string, bigint>();
    const add = (account: string, change: bigint): void => {
      const known = balances.get(account);
      if (known !== undefined) balances.set(account, known + change);
    };
    const counted = { fees: 0, followed: 0 };
    let last = 0;
    for (const block of recordedPolygonBlocks()) {
      const { number, header, executed } = block;
      if (number !== last + 1) balances.clear();
      last = number;
      for (const one of executed) {
        const logs = balanceLogs(one.receipt.raw);
        const paid = logs.find(({ event }) => event === FEE_PAID);
        if (paid === undefined) continue;
        const fee = BigInt(transactionRecord(one, { raw: header }, chain).fee);
        const burned = BigInt(String(header.baseFeePerGas ?? 0)) * one.gasUsed;
        expect(fee).toBe(paid.amount + burned);
        const known = balances.get(paid.from);
        if (known !== undefined) expect(known).toBe(paid.before);
        counted.fees += 1;
        counted.followed += known === undefined ? 0 : 1;
        balances.set(paid.from, paid.before - fee);
        add(paid.to, paid.amount);
        for (const { event, from, to, amount } of logs) {
          if (event !== MOVED) continue;
          add(from, -amount);
          add(to, amount);
        }
      }
    }
    expect(counted.fees).toBeGreaterThan(3_000);
    expect(counted.followed).toBeGreaterThan(1_700);
  });
});

function recordedPolygonBlocks() {
  const folder = recordedEvmFolder() ?? '';
  const read = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), 'utf8'));
  return listRecordedBlocks()
    .filter((block) => block.startsWith('polygon/'))
    .map((block) => {
      const { transactions, ...header } = read(join(block, 'block.json')) as Json & { transactions: Json[] };
      const receipts = new Map(
        (read(join(block, 'receipts.json')) as Json[]).map((receipt) => [
          String(receipt.transactionHash),
          receipt,
        ]),
      );
      const executed = transactions.flatMap((raw, index) => {
        const receipt = receipts.get(String(raw.hash));
        return receipt === undefined ? [] : executedTransaction(raw, parseReceipt(receipt), index);
      });
      return { number: Number(header.number), header, executed };
    })
    .toSorted((left, right) => left.number - right.number);
}
