/** What the node says of every transaction of its chain, and what follows for accounts: recomputed without any code of the program. */
import type { Address } from '@chainstead/core';
import { formatEther, toEventSelector } from 'viem';
import { z } from 'zod';
import { fetchTogether, readHead } from '../story/node.ts';

const hex = z.string().regex(/^0x[0-9a-f]*$/);
const transactionShape = z.object({
  hash: hex,
  from: hex,
  to: hex.nullable(),
  nonce: hex,
  value: hex,
  gas: hex,
  input: hex,
});
const logShape = z.object({ address: hex, topics: z.array(hex), data: hex, logIndex: hex });
const receiptShape = z.object({
  status: hex,
  gasUsed: hex,
  cumulativeGasUsed: hex,
  effectiveGasPrice: hex,
  contractAddress: hex.nullish(),
  logs: z.array(logShape),
});
const blockShape = z.object({
  number: hex,
  hash: hex,
  parentHash: hex,
  timestamp: hex,
  transactions: z.array(transactionShape),
});
interface Call {
  readonly type: string;
  readonly from: string;
  readonly to?: string | undefined;
  readonly value?: string | undefined;
  readonly error?: string | undefined;
  readonly calls?: readonly Call[] | undefined;
}
const callShape: z.ZodType<Call> = z.lazy(() =>
  z.object({
    type: z.string(),
    from: hex,
    to: hex.optional(),
    value: hex.optional(),
    error: z.string().optional(),
    calls: z.array(callShape).optional(),
  }),
);

export type LogTruth = z.output<typeof logShape>;

/** Coins that moved. */
export interface NativeMove {
  readonly from: string;
  readonly to: string;
  /** Wei. */
  readonly value: bigint;
  readonly isInternal: boolean;
}

export interface TransactionTruth {
  readonly block: number;
  readonly index: number;
  readonly from: string;
  readonly to: string | null;
  readonly created: string | null;
  /** As the API has to show it, member for member. */
  readonly record: Readonly<Record<string, unknown>>;
  readonly logs: readonly LogTruth[];
  readonly native: readonly NativeMove[];
}

interface BlockTruth {
  readonly number: number;
  readonly hash: string;
  readonly transactions: readonly TransactionTruth[];
}

/** Reads the chain again and again: what is still the chain's is read once. */
export interface ChainReading {
  /** Every transaction in the order of the chain. */
  read(): Promise<readonly TransactionTruth[]>;
}

const TOGETHER = 50;

export function createChainReading(url: string): ChainReading {
  const blocks: BlockTruth[] = [];
  return {
    async read() {
      const head = await readHead(url);
      blocks.splice(head.number + 1);
      for (let tail = blocks.at(-1); tail !== undefined; tail = blocks.at(-1)) {
        const [now] = await fetchTogether(url, [
          { method: 'eth_getBlockByNumber', params: [quantity(tail.number), false] },
        ]);
        if (z.object({ hash: hex }).parse(now).hash === tail.hash) break;
        blocks.pop();
      }
      for (let from = blocks.length; from <= head.number; from += TOGETHER)
        blocks.push(...(await readBlocks(url, from, Math.min(head.number, from + TOGETHER - 1))));
      return blocks.flatMap(({ transactions }) => transactions);
    },
  };
}

async function readBlocks(url: string, from: number, to: number): Promise<BlockTruth[]> {
  const numbers = Array.from({ length: to - from + 1 }, (_, place) => quantity(from + place));
  const found = z.array(blockShape).parse(
    await fetchTogether(
      url,
      numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [number, true] })),
    ),
  );
  const receipts = z.array(z.array(receiptShape)).parse(
    await fetchTogether(
      url,
      numbers.map((number) => ({ method: 'eth_getBlockReceipts', params: [number] })),
    ),
  );
  const hashes = found.flatMap(({ transactions }) => transactions.map(({ hash }) => hash));
  const traces = z.array(callShape).parse(
    await fetchTogether(
      url,
      hashes.map((hash) => ({ method: 'debug_traceTransaction', params: [hash, { tracer: 'callTracer' }] })),
    ),
  );
  const traceOf = new Map(hashes.map((hash, place) => [hash, traces[place]]));
  return found.map((block, place) => ({
    number: Number(block.number),
    hash: block.hash,
    transactions: block.transactions.map((transaction, index) => {
      const receipt = receipts[place]?.[index];
      if (receipt === undefined) throw new Error(`The node has no receipt of ${transaction.hash}`);
      return truthOf(block, transaction, receipt, traceOf.get(transaction.hash), index);
    }),
  }));
}

function truthOf(
  block: z.output<typeof blockShape>,
  transaction: z.output<typeof transactionShape>,
  receipt: z.output<typeof receiptShape>,
  trace: Call | undefined,
  index: number,
): TransactionTruth {
  const { from, to } = transaction;
  const value = BigInt(transaction.value);
  const succeeded = BigInt(receipt.status) === 1n;
  // Nodes name an address for a creation that failed, too: there is no contract at it.
  const named = to === null ? (receipt.contractAddress ?? null) : null;
  const created = succeeded ? named : null;
  const target = to ?? created;
  const own = succeeded && value > 0n && target !== null ? [{ from, to: target, value, isInternal: false }] : [];
  return {
    block: Number(block.number),
    index,
    from,
    to,
    created,
    record: {
      hash: transaction.hash,
      nonce: decimal(transaction.nonce),
      transaction_index: String(index),
      from_address: from,
      to_address: to,
      value: decimal(transaction.value),
      gas: decimal(transaction.gas),
      gas_price: decimal(receipt.effectiveGasPrice),
      input: transaction.input,
      receipt_cumulative_gas_used: decimal(receipt.cumulativeGasUsed),
      receipt_gas_used: decimal(receipt.gasUsed),
      receipt_contract_address: named,
      receipt_root: null,
      receipt_status: succeeded ? '1' : '0',
      transaction_fee: formatEther(BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)),
      block_timestamp: new Date(Number(block.timestamp) * 1_000).toISOString(),
      block_number: decimal(block.number),
      block_hash: block.hash,
    },
    logs: receipt.logs,
    native: [...own, ...(trace === undefined || !succeeded ? [] : movesOf(trace.calls ?? []))],
  };
}

/** Calls that were not reverted, in the order of execution. */
function movesOf(calls: readonly Call[]): NativeMove[] {
  return calls.flatMap((call) => {
    if (call.error !== undefined) return [];
    const value = call.type === 'DELEGATECALL' || call.type === 'STATICCALL' ? 0n : BigInt(call.value ?? '0x0');
    const moved =
      value > 0n && call.to !== undefined ? [{ from: call.from, to: call.to, value, isInternal: true }] : [];
    return [...moved, ...movesOf(call.calls ?? [])];
  });
}

const TRANSFER = toEventSelector('Transfer(address,address,uint256)');
const APPROVAL = toEventSelector('Approval(address,address,uint256)');
const APPROVAL_FOR_ALL = toEventSelector('ApprovalForAll(address,address,bool)');

/** Whether it is in the account's list of transactions. */
export function isListed({ from, to, created }: TransactionTruth, account: Address): boolean {
  return account === from || account === to || account === created;
}

/** Transfers of tokens of which the account is a side: of ERC-20 with three topics, of NFTs with four. */
export function transfersOf({ logs }: TransactionTruth, account: Address, topics: 3 | 4): readonly LogTruth[] {
  return logs.filter(
    (log) =>
      log.topics.length === topics &&
      log.topics[0] === TRANSFER &&
      log.topics.slice(1, 3).some((topic) => addressIn(topic) === account),
  );
}

/** The transactions as far as a program without traces of some blocks can know them. */
export function withTraces(
  truths: readonly TransactionTruth[],
  isTraced: (block: number) => boolean,
): readonly TransactionTruth[] {
  return truths.map((truth) =>
    isTraced(truth.block) ? truth : { ...truth, native: truth.native.filter(({ isInternal }) => !isInternal) },
  );
}

/** Coins that moved from or to the account: by the transaction itself, then by calls inside, in the order of execution. */
export function nativeOf({ native }: TransactionTruth, account: Address): readonly NativeMove[] {
  return native.filter(({ from, to }) => from === account || to === account);
}

/** Whether it is in the account's history. */
export function isInHistory(truth: TransactionTruth, account: Address): boolean {
  const approves = truth.logs.some(
    ({ topics }) =>
      ((topics[0] === APPROVAL && topics.length === 3) || topics[0] === APPROVAL_FOR_ALL) &&
      addressIn(topics[1]) === account,
  );
  return (
    isListed(truth, account) ||
    approves ||
    transfersOf(truth, account, 3).length > 0 ||
    transfersOf(truth, account, 4).length > 0 ||
    nativeOf(truth, account).length > 0
  );
}

export function addressIn(topic: string | undefined): string {
  return `0x${topic?.slice(26)}`;
}

function decimal(quantity: string): string {
  return BigInt(quantity).toString();
}

function quantity(number: number): string {
  return `0x${number.toString(16)}`;
}
