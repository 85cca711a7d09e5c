import { recoverSender, type TransactionJson } from '@chainstead/proof';
import { type Hex, parseTransaction, recoverTransactionAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';

const TRANSACTIONS = 2_000;
/** The curve in JavaScript takes long enough with a part of them. */
const PEER_TRANSACTIONS = 200;
const PER_SECOND_MIN = 5_000;

interface Signed {
  readonly raw: Hex;
  readonly json: TransactionJson;
  readonly sender: string;
}

/** How many senders one core recovers from signatures, against viem. */
export const recoverSenders: Benchmark = {
  name: 'recover-senders',
  title: 'Senders of transactions recovered from their signatures in a second, on one core',
  async run({ runs, say }) {
    const signed = await Promise.all(Array.from({ length: TRANSACTIONS }, (_, nonce) => sign(nonce)));
    const ours: number[] = [];
    const peer: number[] = [];
    // Both are compiled by then.
    measureOurs(signed);
    for (let run = 0; run < runs; run++) {
      say(`  run ${run + 1} of ${runs}`);
      ours.push(measureOurs(signed));
      peer.push(await measurePeer(signed.slice(0, PEER_TRANSACTIONS)));
    }
    const name = 'senders recovered';
    return {
      comparisons: [{ name, unit: 'transactions/s', ours, peer }],
      measures: [{ name, unit: 'transactions/s', samples: ours, target: { atLeast: PER_SECOND_MIN } }],
      notes: [
        `${TRANSACTIONS} transactions of EIP-1559, each of another account; the peer is viem's recoverTransactionAddress.`,
      ],
    };
  },
};

/** @returns transactions a second */
function measureOurs(signed: readonly Signed[]): number {
  const begin = performance.now();
  for (const { json, sender } of signed) assertSender(recoverSender(json), sender);
  return perSecond(signed.length, begin);
}

async function measurePeer(signed: readonly Signed[]): Promise<number> {
  const begin = performance.now();
  for (const { raw, sender } of signed)
    assertSender(
      (await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toLowerCase(),
      sender,
    );
  return perSecond(signed.length, begin);
}

function perSecond(count: number, begin: number): number {
  return (1_000 * count) / (performance.now() - begin);
}

function assertSender(found: string | null, sender: string): void {
  if (found !== sender) throw new BenchmarkError(`Sender ${found} was recovered instead of ${sender}`);
}

async function sign(nonce: number): Promise<Signed> {
  const account = privateKeyToAccount(`0x${(nonce + 1).toString(16).padStart(64, '0')}`);
  const raw = await account.signTransaction({
    ...{ type: 'eip1559', chainId: 1, nonce, to: `0x${'35'.repeat(20)}`, value: 1n, gas: 60_000n },
    ...{ maxFeePerGas: 30_000_000_000n, maxPriorityFeePerGas: 1n, data: `0xa9059cbb${'12'.repeat(64)}` },
  });
  const { v, r, s, yParity, ...fields } = parseTransaction(raw);
  const quantities = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'bigint' || typeof value === 'number' ? `0x${value.toString(16)}` : value,
  ]);
  const json = {
    ...Object.fromEntries(quantities),
    ...{ type: '0x2', input: fields.data, accessList: [], r, s, yParity: `0x${(yParity ?? 0).toString(16)}` },
  };
  return { raw, json, sender: account.address.toLowerCase() };
}
