import { type BlockRange, mergeRanges } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type CoinRow, writeCoins } from '../coins/dataset.ts';
import { lockCommits, recordCoverage } from '../sync/aptos-status.ts';
import type { AptosNetwork } from '../transaction.ts';
import { CoinsFileError, parseCoin, parseEnd, parseHeader } from './coins-file.ts';

export interface ImportCoinsOptions {
  readonly database: Database;
  readonly lines: AsyncIterable<string>;
  /** Trusts that no coin of these versions is missing: they are not read again. */
  readonly trustCoverage: boolean;
}

export interface ImportedCoins {
  readonly network: AptosNetwork;
  readonly coins: number;
  readonly added: number;
  readonly claimed: readonly BlockRange[];
  readonly trusted: boolean;
}

const ROWS_PER_WRITE = 1_000;

/** Earlier versions stay, in any order. @throws CoinsFileError, without importing anything */
export function importCoins({ database, lines, trustCoverage }: ImportCoinsOptions): Promise<ImportedCoins> {
  return database.transaction(async (transaction) => {
    const reader = lines[Symbol.asyncIterator]();
    const first = await reader.next();
    const { network, covered } = parseHeader(first.done === true ? '' : first.value);
    await lockCommits(transaction, network);
    let [coins, added] = [0, 0];
    let waiting: CoinRow[] = [];
    const write = async (): Promise<void> => {
      const inKeyOrder = waiting.toSorted((a, b) => (a.coin_type_hash < b.coin_type_hash ? -1 : 1));
      added += await writeCoins(transaction, inKeyOrder);
      waiting = [];
    };
    for await (const coin of readCoins(reader, network)) {
      coins++;
      waiting.push(coin);
      if (waiting.length >= ROWS_PER_WRITE) await write();
    }
    await write();
    const claimed = mergeRanges(covered);
    if (trustCoverage) for (const range of claimed) await recordCoverage(transaction, network, ['coins'], range);
    return { network, coins, added, claimed, trusted: trustCoverage };
  });
}

/** @throws CoinsFileError also without an end, or with another count */
async function* readCoins(reader: AsyncIterator<string>, network: AptosNetwork): AsyncGenerator<CoinRow> {
  const seen = new Set<string>();
  let end: number | null = null;
  let lineNumber = 1;
  for (let next = await reader.next(); next.done !== true; next = await reader.next()) {
    lineNumber++;
    if (next.value.trim() === '') continue;
    if (end !== null) throw new CoinsFileError(lineNumber, 'comes after the end');
    end = parseEnd(next.value, lineNumber);
    if (end !== null) continue;
    const coin = parseCoin(next.value, lineNumber, network);
    if (seen.has(coin.coin_type_hash))
      throw new CoinsFileError(lineNumber, 'gives a coin that an earlier line has given');
    seen.add(coin.coin_type_hash);
    yield coin;
  }
  if (end === null)
    throw new CoinsFileError(lineNumber, 'is the last one, and the end is missing: the file was cut off');
  if (end !== seen.size) throw new CoinsFileError(lineNumber, `counts ${end} coins, and there are ${seen.size}`);
}
