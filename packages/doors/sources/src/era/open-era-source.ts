import type { Chain } from '@chainstead/chains';
import { beaconNetwork, type RecoverSigners } from '@chainstead/proof';
import { toExpectation } from '@chainstead/rpc/check-logs';
import type { BlockSource } from '../block-source.ts';
import { type CanonicalHeaders, createCanonicalHeaders } from './canonical-headers.ts';
import { decodeBlock } from './decode-block.ts';
import { decodeEraHeader } from './decode-header.ts';
import { damage } from './era-damage.ts';
import type { EraFile } from './era-file.ts';
import { createEraFiles } from './era-files.ts';
import { type EraFileFacts, hasProofs } from './era-folder.ts';
import { eraNetwork } from './file-name.ts';
import { findSummaries, readHistoryLists } from './history-lists.ts';
import { pagesOf, readBlockLogs } from './read-era-logs.ts';

export interface EraSourceOptions {
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
