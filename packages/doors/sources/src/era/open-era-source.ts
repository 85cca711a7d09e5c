import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Chain } from '@chainstead/chains';
import { keccak256Hex, type Log } from '@chainstead/core';
import {
  beaconNetwork,
  type HistoryLists,
  hexToBytes,
  mayContain,
  type RecoverSigners,
  readHashesList,
} from '@chainstead/proof';
import { type LogsExpectation, matchesLog, toExpectation } from '@chainstead/rpc/check-logs';
import type { BlockSource, LogsPage } from '../block-source.ts';
import { decodeBlock, decodeReceipts, placedLogs } from './decode-block.ts';
import { decodeBody, decodeEraHeader } from './decode-body.ts';
import { damage } from './era-damage.ts';
import type { EraFile } from './era-file.ts';
import { type CanonicalHeaders, createCanonicalHeaders, createEraFiles } from './era-files.ts';
import { type EraFileFacts, hasProofs } from './era-folder.ts';
import { eraNetwork } from './era-index.ts';

interface EraSourceOptions {
  /** Has `.era1`, `.ere` and `.e2hs` files. Files that are added later are read too. */
  readonly folder: string;
  readonly chain: Pick<Chain, 'id' | 'key'>;
  /** @default in this thread */
  readonly recoverSigners?: RecoverSigners | undefined;
  /**
   * Historical summaries of a beacon node, 64 bytes per entry. Without them, no list proves blocks from Capella on.
   * @default `historical-summaries.ssz` in the folder, if it is there
   */
  readonly summariesFile?: string;
  /** Leaves out files that no list can prove: no node would. @default false */
  readonly isAlone?: boolean | undefined;
  /** A file that does not hold was found: its blocks are read elsewhere. */
  onRefusal?(reason: string): void;
}

/** Blocks of files on disk, whose headers public lists prove. */
export function openEraSource(options: EraSourceOptions): BlockSource {
  const { folder, chain, recoverSigners, summariesFile, onRefusal, isAlone = false } = options;
  const { mergeBlock = 0, finalDifficulty = null } = beaconNetwork(chain.id) ?? {};
  // Before the merge, the accumulator of a whole file proves it.
  const isOffered = (facts: EraFileFacts): boolean =>
    !isAlone || hasProofs(facts) || facts.index.first < mergeBlock;
  const files = createEraFiles(folder, eraNetwork(chain), onRefusal, isOffered);
  let canonical: CanonicalHeaders | null = null;

  async function canonicalHeaders(): Promise<CanonicalHeaders> {
    const lists = await readHistoryLists(chain.id, summariesFile ?? (await findSummaries(folder))).catch(
      (error: Error) => {
        throw files.failure('refused', `the lists of history can't be read: ${error.message}`);
      },
    );
    return createCanonicalHeaders(chain, lists);
  }

  async function readBlock(file: EraFile, number: number, transactions: boolean) {
    canonical ??= await canonicalHeaders();
    const proven = await canonical.epoch(file);
    const read = await file.header(number);
    const header = decodeEraHeader(read.rlp, number);
    const record = proven?.records[number - proven.first];
    // The file may have changed since its accumulator was checked.
    if (record !== undefined && record.hash !== header.header.hash)
      damage(`block ${number} is not that of the accumulator`);
    const parts = {
      header,
      headerBytes: read.rlp.length,
      body: await file.body(number),
      receipts: await file.receipts(number),
      totalDifficulty: record?.totalDifficulty ?? (number < mergeBlock ? null : finalDifficulty),
    };
    const block = await decodeBlock(parts, { chain, transactions, recoverSigners });
    const isCanonical = record !== undefined || (await canonical.isProven(file, header.header, read));
    return {
      ...block,
      isCanonical,
      hasRecoveredSenders: transactions,
      bytes: parts.headerBytes + parts.body.length + (parts.receipts?.rlp.length ?? 0),
    };
  }

  return {
    name: files.name,
    available: files.available,
    readBlocks: (range, { transactions }, signal) =>
      files.eachBlock(range, signal, (file, number) => readBlock(file, number, transactions)),
    readLogs(query, signal) {
      const expected = toExpectation(query);
      const blocks = files.eachBlock(query.range, signal, (file, number) =>
        readBlockLogs(file, number, expected),
      );
      return pagesOf(query.range.from, blocks);
    },
    refuse: files.refuse,
    refusals: files.refusals,
    revision: files.revision,
    // Files are open only while they are read.
    close: async () => undefined,
  };
}

const PAGE_LOGS_MAX = 10_000;
const PAGE_BLOCKS_MAX = 1_000;
/** Above, the filter costs more than it saves. */
const BLOOM_VALUES_MAX = 200;

interface BlockLogs {
  readonly logs: readonly Log[];
  readonly last: NonNullable<LogsPage['last']>;
  readonly file?: string;
}

/** Null: the file has no receipts. @throws EraDamage, InvalidPrimitiveError, MalformedAnswerError */
async function readBlockLogs(
  file: EraFile,
  number: number,
  expected: LogsExpectation,
): Promise<BlockLogs | null> {
  const { rlp } = await file.header(number);
  const { header } = decodeEraHeader(rlp, number);
  const last = { number, hash: header.hash, timestamp: header.timestamp };
  if (header.logsBloom !== null && !mayMatch(hexToBytes(header.logsBloom), expected)) return { logs: [], last };
  const record = await file.receipts(number);
  if (record === null) return null;
  const receipts = decodeReceipts(record);
  const body = decodeBody(await file.body(number), rlp.length);
  if (receipts.length !== body.transactions.length)
    damage(`block ${number} has ${body.transactions.length} transactions and ${receipts.length} receipts`);
  let logIndex = 0;
  const logs = receipts.flatMap((receipt, transactionIndex) => {
    const at = { transactionHash: header.hash, transactionIndex, logIndex };
    logIndex += receipt.logs.length;
    const matching = placedLogs(receipt, header, at).filter((log) => matchesLog(log, expected));
    if (matching.length === 0) return [];
    const transactionHash = keccak256Hex(body.transactions[transactionIndex] ?? Buffer.alloc(0));
    return matching.map((log) => ({ ...log, transactionHash }));
  });
  return { logs, last };
}

/** Joins blocks of a file to pages of bounded weight. */
async function* pagesOf(from: number, blocks: AsyncIterable<BlockLogs>): AsyncGenerator<LogsPage> {
  let first = from;
  let logs: Log[] = [];
  let open: BlockLogs | null = null;
  const page = ({ last, file }: BlockLogs): LogsPage => {
    const range = { from: first, to: last.number };
    const whole = { range, logs, last, ...(file !== undefined && { file }) };
    first = last.number + 1;
    logs = [];
    open = null;
    return whole;
  };
  for await (const block of blocks) {
    const before = open as BlockLogs | null;
    if (before !== null && before.file !== block.file) yield page(before);
    for (const log of block.logs) logs.push(log);
    open = block;
    if (logs.length >= PAGE_LOGS_MAX || block.last.number - first + 1 >= PAGE_BLOCKS_MAX) yield page(block);
  }
  if (open !== null) yield page(open);
}

function mayMatch(bloom: Buffer, { topics, addresses, indexed }: LogsExpectation): boolean {
  return [topics, addresses, ...indexed].every(
    (values) =>
      values === null ||
      values.size > BLOOM_VALUES_MAX ||
      [...values].some((value) => mayContain(bloom, value as `0x${string}`)),
  );
}

const MAINNET = 1;
const NO_LISTS: HistoryLists = { hashes: null, roots: null, summaries: null };

/** Lists before Capella are frozen and ship with the program. @param summariesFile grows with the chain */
async function readHistoryLists(chainId: number, summariesFile: string | null): Promise<HistoryLists> {
  const summaries = summariesFile === null ? null : await readFile(summariesFile);
  if (chainId !== MAINNET) return { ...NO_LISTS, summaries };
  const [hashes, roots] = await Promise.all([
    readFile(new URL('../../lists/historical-hashes-accumulator.ssz', import.meta.url)),
    readFile(new URL('../../lists/historical-roots.ssz', import.meta.url)),
  ]);
  return { hashes: readHashesList(hashes), roots, summaries };
}

const SUMMARIES_FILE = 'historical-summaries.ssz';

/** A list next to the era files; null: none. */
async function findSummaries(folder: string): Promise<string | null> {
  return (await readdir(folder)).includes(SUMMARIES_FILE) ? join(folder, SUMMARIES_FILE) : null;
}
