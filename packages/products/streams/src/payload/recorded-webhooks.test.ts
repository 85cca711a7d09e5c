import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { type Address, type Hash, type Hex, type Log, parseHash, toQuantity } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import { recordedData } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { exampleStream } from '../matching/testing/example-stream.ts';
import { finishBody, renderBody } from './render-body.ts';
import { enrichedMatch } from './testing/enriched-match.ts';
import { matchEverything } from './testing/example-match.ts';
import { receiveWebhook } from './testing/received-webhook.ts';
import { type TokenNote, UNKNOWN_TOKEN } from './webhook-contents.ts';

const { folder: FOLDER, isMissing, title } = recordedData('data/webhooks/recorded');

type Item = Readonly<Record<string, string | null>>;
interface Recorded {
  readonly chainId: Hex;
  readonly streamId: string;
  readonly tag: string;
  readonly abi: [];
  readonly confirmed: boolean;
  readonly block: { readonly number: string; readonly hash: Hash; readonly timestamp: string };
  readonly logs: readonly Item[];
  readonly txs: readonly Item[];
  readonly txsInternal: readonly Item[];
  readonly erc20Transfers: readonly Item[];
  readonly nftTransfers: readonly Item[];
  readonly nftTokenApprovals?: readonly Item[];
}

/** Members that the current interface adds to the recordings of 2022 and 2023. */
const LATER = new Set([
  'triggered_by',
  'transactionFee',
  'possibleSpam',
  'logo',
  'thumbnail',
  'verifiedCollection',
]);
/** Recorded members that the interface no longer has; triggers come from the chain, not from the block. */
const GONE = new Set(['possibleScam', 'internalTransactionIndex', 'triggers']);
/** Lists missing in the earliest recordings. */
const LATER_LISTS = new Set(['nftTokenApprovals', 'nativeBalances']);

const hex = (decimal: string | null | undefined): Hex | null => (decimal ? toQuantity(BigInt(decimal)) : null);

/** The block that must have produced the recorded body, in the node's format. */
function blockOf(recorded: Recorded): WatchedBlock {
  const header = {
    number: Number(recorded.block.number),
    hash: recorded.block.hash,
    parentHash: recorded.block.hash,
    timestamp: Number(recorded.block.timestamp),
    logsBloom: null,
    receiptsRoot: null,
    raw: {},
  };
  const size = 1 + Math.max(0, ...recorded.txs.map((tx) => Number(tx.transactionIndex)));
  const nobody = `0x${'de'.repeat(20)}`;
  const filler = (index: number) => ({
    hash: parseHash(`0x${String(index).padStart(64, '0')}`),
    from: null,
    to: nobody,
  });
  const transactions = Array.from({ length: size }, (_, index): Record<string, unknown> => {
    const tx = recorded.txs.find((one) => one.transactionIndex === String(index));
    if (tx === undefined) return filler(index);
    const { hash, fromAddress, toAddress, input, gas, gasPrice, nonce, value, type, v, r, s } = tx;
    const [gasHex, price, count, wei, kind] = [gas, gasPrice, nonce, value, type].map(hex);
    const signature = { v: hex(v), r: hex(r), s: hex(s) };
    return {
      hash,
      from: fromAddress,
      to: toAddress,
      input,
      gas: gasHex,
      gasPrice: price,
      nonce: count,
      value: wei,
      type: kind,
      ...signature,
    };
  });
  const hashes = transactions.map(({ hash }) => parseHash(hash));
  const logs = recorded.logs.map(
    (log): Log => ({
      address: log.address as Address,
      topics: [log.topic0, log.topic1, log.topic2, log.topic3].filter((topic) => topic !== null) as Hash[],
      data: log.data as Hex,
      blockNumber: header.number,
      blockHash: header.hash,
      transactionHash: log.transactionHash as Hash,
      transactionIndex: 0,
      logIndex: Number(log.logIndex),
      blockTimestamp: null,
    }),
  );
  const receipts = recorded.txs.map((tx) => ({
    transactionHash: tx.hash as Hash,
    transactionIndex: Number(tx.transactionIndex),
    type: Number(tx.type),
    cumulativeGasUsed: BigInt(tx.receiptCumulativeGasUsed ?? 0),
    logs: [],
    raw: {
      cumulativeGasUsed: hex(tx.receiptCumulativeGasUsed),
      gasUsed: hex(tx.receiptGasUsed),
      status: hex(tx.receiptStatus),
      contractAddress: tx.receiptContractAddress,
      root: tx.receiptRoot,
    },
  }));
  const internalTransfers = recorded.txsInternal.map((one) => ({
    transactionHash: one.transactionHash as Hash,
    from: one.from as Address,
    to: one.to as Address,
    value: BigInt(one.value ?? 0),
    gas: one.gas === null || one.gas === undefined ? null : BigInt(one.gas),
  }));
  return {
    header,
    block: { header, transactionHashes: hashes, transactions },
    receipts,
    logs,
    internalTransfers,
  };
}

function tokensOf(recorded: Recorded): ReadonlyMap<Address, TokenNote> {
  const items = [...recorded.erc20Transfers, ...recorded.nftTransfers, ...(recorded.nftTokenApprovals ?? [])];
  return new Map(
    items.map(({ contract, tokenName = null, tokenSymbol = null, tokenDecimals }): [Address, TokenNote] => {
      const decimals = tokenDecimals === undefined ? null : Number(tokenDecimals);
      return [contract as Address, { ...UNKNOWN_TOKEN, name: tokenName, symbol: tokenSymbol, decimals }];
    }),
  );
}

/** Both bodies without members that are known to exist in only one of them; lists are sorted. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(comparable).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([key]) => !LATER.has(key) && !GONE.has(key));
  return Object.fromEntries(
    members
      .map(([key, member]) => [key, comparable(member)])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
}

describe.skipIf(isMissing)(title('recorded webhooks'), () => {
  const files = ['usdc-erc20-transfers', 'nft-erc721-transfers', 'binance-transactions', 'triggers'];

  test.each(files)('%s: the same block gives the same members and values', async (name) => {
    const recorded: Recorded = JSON.parse(readFileSync(join(FOLDER, `batch-${name}.json`), 'utf8'));
    const chain = createChainRegistry().get(recorded.chainId);
    const { number, hash, timestamp } = recorded.block;
    const rendered = renderBody({
      stream: exampleStream({ id: recorded.streamId, tag: recorded.tag, abi: recorded.abi }),
      chain,
      block: { number: Number(number), hash, timestamp: Number(timestamp) },
      enriched: enrichedMatch(matchEverything(blockOf(recorded), chain), chain, { tokens: tokensOf(recorded) }),
    });
    const body = await receiveWebhook(finishBody(rendered, { confirmed: recorded.confirmed, retries: 0 }));
    const added = Object.keys(body).filter((key) => !(key in recorded));
    expect(added.filter((key) => !LATER_LISTS.has(key))).toEqual([]);
    const shared = Object.fromEntries(Object.entries(body).filter(([key]) => key in recorded));
    expect(comparable(shared)).toEqual(comparable(recorded));
    await receiveWebhook(JSON.stringify({ nftTokenApprovals: [], nativeBalances: [], ...recorded }));
  });
});
