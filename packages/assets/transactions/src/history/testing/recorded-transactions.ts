import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, type Log, parseAddress, parseHash } from '@chainstead/core';
import { decodeErc20Transfer, decodeNftTransfers } from '@chainstead/events/token-events';
import { nftTrades } from '@chainstead/nft';
import { parseReceipt } from '@chainstead/rpc';
import { executedTransaction } from '@chainstead/sync';
import { listRecordedBlocks, recordedEvmFolder } from '@chainstead/testkit';
import { STANDARDS_ALONE } from '../../abis/abi-books.ts';
import { type TransactionRecord, transactionRecord } from '../../records/transaction-record.ts';
import type { Classification, TradePart } from '../classification/classification-features.ts';
import { classify } from '../classification/decision-table.ts';
import { type SeenTransaction, seenByWallet } from '../page/get-wallet-history.ts';
import type { IndexedLegs } from '../page/read-asset-movements.ts';

/** A recorded transaction from its sender's view, without traces and imported lists. */
export interface RecordedTransaction {
  /** Its block's folder: `ethereum/15000000`. */
  readonly block: string;
  readonly record: TransactionRecord;
  readonly seen: SeenTransaction;
  readonly classification: Classification;
}

type Json = Readonly<Record<string, unknown>>;

/** All transactions of recorded blocks that include transactions and receipts. Empty without recordings. */
export function readRecordedTransactions(): RecordedTransaction[] {
  return listRecordedBlocks().flatMap(readBlock);
}

function readBlock(block: string): RecordedTransaction[] {
  const folder = recordedEvmFolder() ?? '';
  const [chainName = ''] = block.split('/');
  const chain = chainOf(folder, chainName);
  if (chain === null || !existsSync(join(folder, block, 'block.json'))) return [];
  const { transactions = [], ...header }: Json & { transactions?: Json[] } = readJson(
    join(folder, block, 'block.json'),
  );
  const receipts: readonly Json[] = readJson(join(folder, block, 'receipts.json'));
  const byHash = new Map(receipts.map((receipt) => [String(receipt.transactionHash).toLowerCase(), receipt]));
  const read = transactions.flatMap((raw, index) => {
    const receipt = byHash.get(String(raw.hash).toLowerCase());
    if (typeof raw !== 'object' || receipt === undefined) return [];
    const executed = executedTransaction(raw, parseReceipt(receipt), index);
    return [{ executed, record: transactionRecord(executed, { raw: header }, chain) }];
  });
  const logs = read.flatMap(({ executed }) => executed.logs);
  const trades = tradesOf(logs, chain);
  return read.map(({ executed, record }) => {
    const wallet = parseAddress(record.from);
    const ownTrades = trades(record.hash, wallet);
    const seen = seenByWallet(chain, wallet, {
      ...{ record, said: null, block: Number(header.number), calls: null, booksOf: STANDARDS_ALONE },
      legs: legsIn(executed.logs, wallet, ownTrades, chain),
    });
    return { block, record, seen, classification: classify(seen) };
  });
}

function readJson<Value>(path: string): Value {
  return JSON.parse(readFileSync(path, 'utf8')) as Value;
}

function chainOf(folder: string, name: string): Chain | null {
  const ids: Readonly<Record<string, number>> = readJson(join(folder, 'chain-ids.json'));
  const id = ids[name];
  return id === undefined ? null : createChainRegistry().find(String(id));
}

/** The legs that the index would have of the wallet. */
function legsIn(logs: readonly Log[], wallet: Address, trades: readonly TradePart[], chain: Chain): IndexedLegs {
  const isSide = ({ from, to }: { readonly from: Address; readonly to: Address }): boolean =>
    from === wallet || to === wallet;
  return {
    tokens: logs.flatMap((log) => {
      const transfer = decodeErc20Transfer(log, chain);
      if (transfer === null || !isSide(transfer)) return [];
      return [{ ...transfer, token: log.address, value: BigInt(transfer.value), logIndex: log.logIndex }];
    }),
    nfts: decodeNftTransfers(logs, chain)
      .transfers.filter(isSide)
      .map(({ log, kind, token, tokenId, from, to, amount, operator }) => ({
        ...{ kind, token, tokenId, from, to, operator, logIndex: log.logIndex },
        amount: BigInt(amount),
      })),
    trades,
    inside: null,
    approvals: [],
    said: null,
  };
}

function tradesOf(logs: readonly Log[], chain: Chain) {
  const topics = new Set(nftTrades.topics(chain));
  const rows = nftTrades.decode(
    logs.filter(({ topics: [topic0] }) => topic0 !== undefined && topics.has(topic0)),
    { chain, timestampOf: () => 0 },
  );
  return (hash: string, wallet: Address): readonly TradePart[] =>
    rows
      .filter(
        (row) =>
          row.leads && row.transactionHash === parseHash(hash) && (row.buyer === wallet || row.seller === wallet),
      )
      .map((row) => ({ role: row.buyer === wallet ? 'buyer' : 'seller', isOffer: row.side === 1 }));
}
