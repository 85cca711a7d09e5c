import { type Hash, type Hex, type Log, type Receipt, ZERO_HASH } from '@chainstead/core';
import { blockSize, encodeReceipt, logsBloom, orderedTrieRoot } from '@chainstead/proof';
import type { JsonObject, SourceBlock } from '../nodes/chain-source.ts';
import type { NftMoveFact, NftSaleFact, TransferFact } from './scripted-event.ts';
import { quantity, sealHeader } from './scripted-header.ts';
import type { ScriptedTransaction } from './scripted-transaction.ts';

/** Where in the chain an event stands. */
interface EventPlace {
  readonly blockNumber: number;
  readonly blockHash: Hash;
  /** Unix seconds. */
  readonly blockTimestamp: number;
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** A transfer as an indexer must find it. */
export interface ExpectedTransfer extends TransferFact, EventPlace {}

/** A move of an NFT as an indexer must find it. */
export interface ExpectedNftMove extends NftMoveFact, EventPlace {
  /** Place among the moves of its event, from 0. */
  readonly item: number;
}

/** A sale of an NFT as an indexer must find it. */
export interface ExpectedNftSale extends NftSaleFact, EventPlace {}

/** A block made of scripted transactions. */
export interface ScriptedBlock extends SourceBlock {
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly scripted: readonly ScriptedTransaction[];
  /** What its events meant, in order. */
  readonly transfers: readonly ExpectedTransfer[];
  readonly nftMoves: readonly ExpectedNftMove[];
  readonly nftSales: readonly ExpectedNftSale[];
}

export interface BlockPlan {
  readonly number: number;
  readonly parentHash: Hash;
  readonly timestamp: number;
  /** Any 32 bytes; two blocks that differ in nothing else get different hashes by it. */
  readonly mixHash: Hex;
  readonly transactions: readonly ScriptedTransaction[];
}

/** A block whose hash, roots and blooms are what Ethereum's rules make of its contents. */
export function buildBlock(plan: BlockPlan): ScriptedBlock {
  const hashless = plan.transactions.map((transaction, index) =>
    eventsAsLogs(transaction, index, ZERO_HASH, plan.number),
  );
  const cumulative = cumulativeGas(plan.transactions);
  const encoded = plan.transactions.map((transaction, index) =>
    encodeReceipt(bareReceipt(transaction, index, cumulative[index] ?? 0, hashless[index] ?? [])),
  );
  const sealed = sealHeader({
    ...plan,
    logsBloom: logsBloom(hashless.flat()),
    transactionsRoot: orderedTrieRoot(plan.transactions.map((transaction) => transaction.bytes)),
    receiptsRoot: orderedTrieRoot(encoded),
    gasUsed: cumulative.at(-1) ?? 0,
  });
  const size = blockSize(
    { raw: sealed.header, hash: sealed.hash },
    plan.transactions.map(({ json }) => json),
  );
  return assemble(plan, { ...sealed.header, size: quantity(size ?? 0) }, sealed.hash, cumulative);
}

function assemble(plan: BlockPlan, header: JsonObject, hash: Hash, cumulative: readonly number[]): ScriptedBlock {
  const place = { blockHash: hash, blockNumber: quantity(plan.number) };
  const transfers: ExpectedTransfer[] = [];
  const nftMoves: ExpectedNftMove[] = [];
  const nftSales: ExpectedNftSale[] = [];
  let logIndex = 0;
  const receipts = plan.transactions.map((transaction, transactionIndex) => {
    const position = {
      ...place,
      transactionHash: transaction.hash,
      transactionIndex: quantity(transactionIndex),
    };
    const logs = transaction.events.map((event) => {
      const { address, topics, data } = event;
      const eventPlace = {
        blockNumber: plan.number,
        blockHash: hash,
        blockTimestamp: plan.timestamp,
        transactionHash: transaction.hash,
        transactionIndex,
        logIndex,
      };
      if (event.transfer !== null) transfers.push({ ...event.transfer, ...eventPlace });
      if (event.nftSale !== null) nftSales.push({ ...event.nftSale, ...eventPlace });
      nftMoves.push(...event.nftMoves.map((move, item) => ({ ...move, ...eventPlace, item })));
      const own = { address, topics, data, logIndex: quantity(logIndex++), removed: false };
      return { ...own, ...position, blockTimestamp: quantity(plan.timestamp) };
    });
    return {
      ...position,
      type: quantity(transaction.type),
      from: transaction.from,
      to: transaction.to,
      contractAddress: transaction.contractAddress,
      status: transaction.succeeds ? '0x1' : '0x0',
      gasUsed: quantity(transaction.gasUsed),
      cumulativeGasUsed: quantity(cumulative[transactionIndex] ?? 0),
      effectiveGasPrice: transaction.json.gasPrice,
      logsBloom: hex(logsBloom(transaction.events)),
      logs,
    };
  });
  const transactions = plan.transactions.map(({ json }, index) => ({
    ...json,
    ...place,
    transactionIndex: quantity(index),
  }));
  const { number, parentHash, timestamp } = plan;
  return {
    number,
    hash,
    parentHash,
    timestamp,
    header,
    transactions,
    receipts,
    scripted: plan.transactions,
    transfers,
    nftMoves,
    nftSales,
  };
}

function cumulativeGas(transactions: readonly ScriptedTransaction[]): number[] {
  let sum = 0;
  return transactions.map((transaction) => {
    sum += transaction.gasUsed;
    return sum;
  });
}

/** The part of a receipt that its root commits to. */
function bareReceipt(
  transaction: ScriptedTransaction,
  transactionIndex: number,
  cumulativeGasUsed: number,
  logs: readonly Log[],
): Receipt {
  return {
    transactionHash: transaction.hash,
    transactionIndex,
    type: transaction.type,
    cumulativeGasUsed: BigInt(cumulativeGasUsed),
    logs,
    raw: { status: transaction.succeeds ? '0x1' : '0x0' },
  };
}

function eventsAsLogs(
  transaction: ScriptedTransaction,
  transactionIndex: number,
  blockHash: Hash,
  blockNumber: number,
): Log[] {
  return transaction.events.map(({ address, topics, data }, logIndex) => ({
    address,
    topics,
    data,
    blockNumber,
    blockHash,
    transactionHash: transaction.hash,
    transactionIndex,
    logIndex,
    blockTimestamp: null,
  }));
}

function hex(bytes: Buffer): Hex {
  return `0x${bytes.toString('hex')}`;
}
