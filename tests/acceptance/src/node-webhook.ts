/** What a webhook has to say of a block: read from the node by viem, decoded by viem and by nothing of ours. */
import { type Address, parseAddress } from '@chainstead/core';
import { type Devnet, requestNode } from '@chainstead/testkit';
import { erc20Abi, formatEther, formatUnits, type Log, numberToHex, type Transaction } from 'viem';
import { z } from 'zod';
import { type NodeTokens, nodeTokenLists, readNodeTokens } from './node-tokens.ts';

/** What a stream looks at. */
export interface Watch {
  readonly watched: readonly Address[];
  readonly native?: boolean;
  readonly internal?: boolean;
  /** Filter of the logs in which a watched address occurs. Absent: none. */
  readonly logs?: (log: Log<bigint, number, false>) => boolean;
}

/** The body except the choices of the stream's owner, `confirmed` and `retries`. Lists of causes are sorted. */
export async function readNodeWebhook(devnet: Devnet, blockNumber: bigint, watch: Watch) {
  const block = await devnet.client.getBlock({ blockNumber, includeTransactions: true });
  const logs = (await devnet.client.getLogs({ blockHash: block.hash })).flatMap((log) => {
    const causes = causesOf(watch, log);
    return watch.logs?.(log) === true && causes !== null ? [{ log, causes }] : [];
  });
  const tokens: NodeTokens = await readNodeTokens(devnet, [
    ...new Set(logs.map(({ log }) => parseAddress(log.address))),
  ]);
  const concerned = block.transactions.filter(
    ({ from, to }) => watch.native === true && parties(watch, from, to),
  );
  return {
    chainId: numberToHex(devnet.chainId),
    block: { number: String(block.number), hash: block.hash, timestamp: String(block.timestamp) },
    logs: logs.map(({ log, causes }) => shownLog(log, causes)),
    txs: await Promise.all(concerned.map((transaction) => shownTransaction(devnet, transaction, watch))),
    txsInternal: watch.internal === true ? await readInternal(devnet, block.transactions, watch) : [],
    ...nodeTokenLists(logs, tokens),
  };
}

export type NodeWebhook = Awaited<ReturnType<typeof readNodeWebhook>>;

/** Watched addresses that emit the log, or that are a word of its topics or data. */
function causesOf({ watched }: Watch, { address, topics, data }: Log): Address[] | null {
  const words = [...topics.map((topic) => topic.slice(2)), ...(data.slice(2).match(/.{64}/g) ?? [])];
  const causes = watched.filter((one) => address === one || words.includes(one.slice(2).padStart(64, '0')));
  return causes.length === 0 ? null : causes.toSorted();
}

function parties({ watched }: Watch, ...addresses: readonly (string | null)[]): Address[] | null {
  const causes = watched.filter((one) => addresses.includes(one));
  return causes.length === 0 ? null : causes.toSorted();
}

function shownLog(log: Log<bigint, number, false>, causes: readonly Address[] | null) {
  const [topic0 = null, topic1 = null, topic2 = null, topic3 = null] = log.topics;
  const { transactionHash, address, data } = log;
  const topics = { topic0, topic1, topic2, topic3 };
  return { logIndex: String(log.logIndex), transactionHash, address, data, ...topics, triggered_by: causes };
}

async function shownTransaction(devnet: Devnet, transaction: Transaction, watch: Watch) {
  const { hash, from, to, input } = transaction;
  const receipt = await devnet.client.getTransactionReceipt({ hash });
  return {
    hash,
    gas: String(transaction.gas),
    gasPrice: String(receipt.effectiveGasPrice),
    nonce: String(transaction.nonce),
    input,
    transactionIndex: String(receipt.transactionIndex),
    fromAddress: from,
    toAddress: to,
    value: String(transaction.value),
    type: String(Number(transaction.typeHex)),
    v: String(transaction.v),
    r: String(BigInt(transaction.r)),
    s: String(BigInt(transaction.s)),
    receiptCumulativeGasUsed: String(receipt.cumulativeGasUsed),
    receiptGasUsed: String(receipt.gasUsed),
    receiptContractAddress: receipt.contractAddress ?? null,
    receiptRoot: null,
    receiptStatus: receipt.status === 'success' ? '1' : '0',
    transactionFee: formatEther(receipt.gasUsed * receipt.effectiveGasPrice),
    triggered_by: parties(watch, from, to),
  };
}

interface Call {
  readonly type: string;
  readonly from: string;
  readonly to?: string | undefined;
  readonly value?: string | undefined;
  readonly gas: string;
  readonly calls?: readonly Call[] | undefined;
}

const call: z.ZodType<Call> = z.object({
  type: z.string(),
  from: z.string(),
  to: z.string().optional(),
  value: z.string().optional(),
  gas: z.string(),
  get calls() {
    return z.array(call).optional();
  },
});

/** What contracts send, transaction by transaction. */
async function readInternal(devnet: Devnet, transactions: readonly Transaction[], watch: Watch) {
  const shown = [];
  for (const { hash } of transactions) {
    const root = call.parse(
      await requestNode(devnet.url, 'debug_traceTransaction', [hash, { tracer: 'callTracer' }]),
    );
    for (const { from, to = null, value, gas } of (root.calls ?? []).flatMap(withInnerCalls)) {
      const causes = parties(watch, from, to);
      if (causes === null || BigInt(value ?? 0) === 0n) continue;
      const amounts = { value: String(BigInt(value ?? 0)), gas: String(BigInt(gas)) };
      shown.push({ from, to, ...amounts, transactionHash: hash, triggered_by: causes });
    }
  }
  return shown;
}

function withInnerCalls(one: Call): Call[] {
  return [one, ...(one.calls ?? []).flatMap(withInnerCalls)];
}

/** The balance of an account in a token as of a block, as the node says. */
export function readNodeTokenBalance(devnet: Devnet, token: Address, account: Address, blockNumber: bigint) {
  return devnet.client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
    blockNumber,
  });
}

/** The native balance of an account as of a block, as webhooks show it. */
export async function readNodeBalance(devnet: Devnet, account: Address, blockNumber: bigint) {
  const wei = await devnet.client.getBalance({ address: account, blockNumber });
  return { address: account, balance: String(wei), balanceWithDecimals: formatUnits(wei, 18) };
}
