import type { Address, Log } from '@chainstead/core';
import { copyHex } from '@chainstead/db';
import type { Dataset, DecodeContext } from '@chainstead/sync';
import { parseAbiItem } from 'viem';
import { eventArguments, lowerCase, topicOf } from './event-arguments.ts';

const BID_ENTERED = parseAbiItem(
  'event PunkBidEntered(uint256 indexed punkIndex, uint256 value, address indexed fromAddress)',
);
const BID_WITHDRAWN = parseAbiItem(
  'event PunkBidWithdrawn(uint256 indexed punkIndex, uint256 value, address indexed fromAddress)',
);

/** A bid for a punk, or its withdrawal, as the table holds it (schema.ts). */
export interface PunkBidRow {
  readonly tokenAddress: Address;
  readonly chainId: number;
  /** Decimal digits. */
  readonly tokenId: string;
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly bidder: Address;
  /** Wei, decimal digits. */
  readonly value: string;
  readonly entered: boolean;
}

/**
 * Bids for CryptoPunks. When one is accepted, the sale's event does not say its value (marketplaces/cryptopunks.ts): it is
 * the last bid's, of any earlier block (accepted-bid-price.ts).
 */
export const punkBids: Dataset<PunkBidRow> = {
  name: 'punk-bids',
  topics: (chain) => (chain.cryptoPunks === null || !chain.nftTrades ? [] : [BID_ENTERED, BID_WITHDRAWN].map(topicOf)),
  table: 'punk_bids',
  columns: [
    'token_address',
    'chain_id',
    'token_id',
    'block_number',
    'transaction_index',
    'log_index',
    'bidder',
    'value',
    'entered',
  ],
  key: ['token_address', 'chain_id', 'token_id', 'block_number', 'transaction_index', 'log_index'],
  decode,
  copyLine,
};

function decode(logs: readonly Log[], { chain }: DecodeContext): PunkBidRow[] {
  if (chain.cryptoPunks === null || !chain.nftTrades) return [];
  const rows: PunkBidRow[] = [];
  for (const log of logs) {
    if (log.address !== chain.cryptoPunks) continue;
    const entered = eventArguments(BID_ENTERED, log);
    const bid = entered ?? eventArguments(BID_WITHDRAWN, log);
    if (bid === null) continue;
    rows.push({
      tokenAddress: log.address,
      chainId: chain.id,
      tokenId: bid.punkIndex.toString(),
      blockNumber: log.blockNumber,
      transactionIndex: log.transactionIndex,
      logIndex: log.logIndex,
      bidder: lowerCase(bid.fromAddress),
      value: bid.value.toString(),
      entered: entered !== null,
    });
  }
  return rows;
}

function copyLine(row: PunkBidRow): string {
  return [
    copyHex(row.tokenAddress),
    row.chainId,
    row.tokenId,
    row.blockNumber,
    row.transactionIndex,
    row.logIndex,
    copyHex(row.bidder),
    row.value,
    row.entered ? 't' : 'f',
  ].join('\t');
}
