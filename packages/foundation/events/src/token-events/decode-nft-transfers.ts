import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, decimalAt, lengthAt, wordCount } from '../abi/index.ts';
import {
  type ConsecutiveRange,
  createExpansion,
  type Expansion,
  MALFORMED_REASONS,
  type MalformedNftLog,
  type MalformedReason,
  NFT_TRANSFER_KINDS,
  type NftTransfer,
  type NftTransferKind,
  readConsecutiveRange,
} from './nft-transfer.ts';
import {
  CONSECUTIVE_TRANSFER_TOPIC,
  PUNK_ASSIGN_TOPIC,
  PUNK_BOUGHT_TOPIC,
  PUNK_TRANSFER_TOPIC,
  TRANSFER_BATCH_TOPIC,
  TRANSFER_SINGLE_TOPIC,
  TRANSFER_TOPIC,
} from './topics.ts';

export interface NftTransfers {
  readonly transfers: readonly NftTransfer[];
  readonly malformed: readonly MalformedNftLog[];
}

/**
 * Needs whole blocks in chain order: expanded ids are bounded per block. Never throws.
 * `Transfer` with three topics is ERC-20's and ignored; with four and no data it is ERC-721's.
 * An event of NFTs without its shape is malformed as a whole.
 */
export function decodeNftTransfers(logs: readonly Log[], chain: Chain): NftTransfers {
  const transfers: NftTransfer[] = [];
  const malformed: MalformedNftLog[] = [];
  for (const read of readNftLogs(logs, chain))
    if ('reason' in read) malformed.push(read);
    else transfers.push(read);
  return { transfers, malformed };
}

/** Made on request: a few logs may hold a great many. */
export function* readNftLogs(logs: readonly Log[], chain: Chain): Generator<NftTransfer | MalformedNftLog> {
  const readPunk = createPunkReader();
  const expands = createExpansion();
  for (const log of logs) {
    const read =
      log.address === chain.cryptoPunks ? readPunkTransfer(log, readPunk(log)) : readLog(log, chain, expands);
    if (read === null) continue;
    if (typeof read === 'number') yield { log, reason: read };
    else if ('log' in read) yield read;
    else yield* read;
  }
}

type LogRead = NftTransfer | Iterable<NftTransfer> | MalformedReason | null;

const { undecodable } = MALFORMED_REASONS;

function readLog(log: Log, chain: Chain, expands: Expansion): LogRead {
  switch (log.topics[0]) {
    case TRANSFER_TOPIC:
      if (log.topics.length === 4) return readErc721(log);
      return log.topics.length === 1 && chain.unindexedNfts.includes(log.address) ? readUnindexed(log) : null;
    case TRANSFER_SINGLE_TOPIC:
      return readSingle(log);
    case TRANSFER_BATCH_TOPIC:
      return readBatch(log);
    case CONSECUTIVE_TRANSFER_TOPIC:
      return readConsecutive(log, expands);
    default:
      return null;
  }
}

function readErc721(log: Log): LogRead {
  const [, topic1, topic2, id] = log.topics;
  const from = addressAt(topic1);
  const to = addressAt(topic2);
  if (id === undefined || from === null || to === null || log.data !== '0x') return undecodable;
  return transfer(log, 0, NFT_TRANSFER_KINDS.erc721, decimalAt(id), from, to);
}

function readUnindexed(log: Log): LogRead {
  if (wordCount(log.data) !== 3) return undecodable;
  const from = addressAt(log.data, 0);
  const to = addressAt(log.data, 1);
  if (from === null || to === null) return undecodable;
  return transfer(log, 0, NFT_TRANSFER_KINDS.unindexed, decimalAt(log.data, 2), from, to);
}

function readSingle(log: Log): LogRead {
  const parties = multiTokenParties(log);
  if (parties === null || wordCount(log.data) !== 2) return undecodable;
  const { operator, from, to } = parties;
  const id = decimalAt(log.data, 0);
  return transfer(log, 0, NFT_TRANSFER_KINDS.erc1155Single, id, from, to, decimalAt(log.data, 1), operator);
}

function readBatch(log: Log): LogRead {
  const parties = multiTokenParties(log);
  if (parties === null) return undecodable;
  const items = readTransferBatch(log.data);
  if (typeof items === 'number') return items;
  const { operator, from, to } = parties;
  return items.map(({ id, value }, item) =>
    transfer(log, item, NFT_TRANSFER_KINDS.erc1155Batch, id, from, to, value, operator),
  );
}

function multiTokenParties(log: Log): { operator: Address; from: Address; to: Address } | null {
  if (log.topics.length !== 4) return null;
  const operator = addressAt(log.topics[1]);
  const from = addressAt(log.topics[2]);
  const to = addressAt(log.topics[3]);
  return operator === null || from === null || to === null ? null : { operator, from, to };
}

function readConsecutive(log: Log, expands: Expansion): LogRead {
  const range = readConsecutiveRange(log);
  if (typeof range === 'number') return range;
  if (expands(log.blockNumber, range)) return expand(log, range);
  const { first, last, from, to } = range;
  const unexpanded = transfer(log, 0, NFT_TRANSFER_KINDS.consecutive, first.toString(), from, to);
  return { ...unexpanded, lastTokenId: last.toString() };
}

function* expand(log: Log, { first, last, from, to }: ConsecutiveRange): Generator<NftTransfer> {
  for (let id = first, item = 0; id <= last; id++, item++)
    yield transfer(log, item, NFT_TRANSFER_KINDS.consecutive, id.toString(), from, to);
}

function readPunkTransfer(log: Log, read: PunkTransfer | null | 'malformed'): LogRead {
  if (read === null) return null;
  if (read === 'malformed') return undecodable;
  return transfer(log, 0, NFT_TRANSFER_KINDS.cryptoPunks, read.tokenId, read.from, read.to);
}

// biome-ignore lint/complexity/useMaxParams: called for each token of a backfill: one literal, no object around its values.
function transfer(
  log: Log,
  item: number,
  kind: NftTransferKind,
  tokenId: string,
  from: Address,
  to: Address,
  amount = '1',
  operator: Address | null = null,
): NftTransfer {
  return { log, item, kind, token: log.address, tokenId, lastTokenId: null, from, to, amount, operator };
}

const WORD_BYTES = 32;

const HEAD_WORDS = 2;

/**
 * EIP-1155. Work is bounded by the data. An array must be within it,
 * and share no words with the other one or the head. Unused words are allowed.
 */
function readTransferBatch(
  data: Hex,
): readonly { readonly id: string; readonly value: string }[] | MalformedReason {
  const words = wordCount(data);
  if (words === null) return undecodable;
  const ids = arrayAt(data, words, 0);
  const values = arrayAt(data, words, 1);
  if (ids === null || values === null) return undecodable;
  const overlap = ids.index <= values.index + values.length && values.index <= ids.index + ids.length;
  if (overlap) return undecodable;
  if (ids.length !== values.length) return MALFORMED_REASONS.lengthsDiffer;
  const items: { id: string; value: string }[] = [];
  for (let item = 1; item <= ids.length; item++)
    items.push({ id: decimalAt(data, ids.index + item), value: decimalAt(data, values.index + item) });
  return items;
}

/** `index`: of the array's length word. */
function arrayAt(data: Hex, words: number, headIndex: number): { index: number; length: number } | null {
  if (words < HEAD_WORDS) return null;
  const offset = lengthAt(data, WORD_BYTES * headIndex);
  if (offset === undefined || offset % WORD_BYTES !== 0) return null;
  const index = offset / WORD_BYTES;
  if (index < HEAD_WORDS || index >= words) return null;
  const length = lengthAt(data, offset);
  return length === undefined || length > words - index - 1 ? null : { index, length };
}

interface PunkTransfer {
  readonly tokenId: string;
  readonly from: Address;
  readonly to: Address;
}

/**
 * Logs in chain order; null: moves nothing. PunkBought after `acceptBidForPunk` names no buyer:
 * the receiver of the same seller's `Transfer` just before; without that log, it is malformed.
 */
function createPunkReader(): (log: Log) => PunkTransfer | null | 'malformed' {
  let lastTransfer: Log | null = null;
  return (log) => {
    const [topic0, topic1, topic2, topic3] = log.topics;
    const words = wordCount(log.data);
    switch (topic0) {
      case TRANSFER_TOPIC:
        lastTransfer = log;
        return null;
      case PUNK_ASSIGN_TOPIC:
        return log.topics.length === 2 && words === 1
          ? punkTransfer(decimalAt(log.data), ZERO_ADDRESS, addressAt(topic1))
          : 'malformed';
      case PUNK_TRANSFER_TOPIC:
        return log.topics.length === 3 && words === 1
          ? punkTransfer(decimalAt(log.data), addressAt(topic1), addressAt(topic2))
          : 'malformed';
      case PUNK_BOUGHT_TOPIC: {
        if (topic1 === undefined || topic3 === undefined || words !== 1) return 'malformed';
        const seller = addressAt(topic2);
        const named = addressAt(topic3);
        return punkTransfer(
          decimalAt(topic1),
          seller,
          named === ZERO_ADDRESS ? buyerOf(lastTransfer, log, seller) : named,
        );
      }
      default:
        return null;
    }
  };
}

function punkTransfer(tokenId: string, from: Address | null, to: Address | null): PunkTransfer | 'malformed' {
  return from === null || to === null ? 'malformed' : { tokenId, from, to };
}

function buyerOf(transfer: Log | null, bought: Log, seller: Address | null): Address | null {
  const sameTransaction =
    transfer !== null &&
    transfer.blockNumber === bought.blockNumber &&
    transfer.transactionIndex === bought.transactionIndex;
  return sameTransaction && addressAt(transfer.topics[1]) === seller ? addressAt(transfer.topics[2]) : null;
}
