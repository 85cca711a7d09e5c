import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  type BlockRange,
  type Clock,
  intersectRanges,
  mergeRanges,
  rangeSize,
  sleepUnlessAborted,
  subtractRanges,
} from '@chainstead/core';
import { type Database, queryOn, sql } from '@chainstead/db';
import { ExportCoverageMissingError, ExportNotFinalError, ExportRunningError, onFiles } from '../errors.ts';
import {
  type ExportIdentity,
  isPresent,
  type ManifestFile,
  type ManifestStore,
  openFolders,
  openManifest,
} from '../manifest/manifest.ts';
import type { ExportTable } from '../tables/export-table.ts';
import { type PlannedFile, planFiles } from './plan-files.ts';
import {
  type ChangeCause,
  type ExportChain,
  findChanged,
  joinLevels,
  readCovered,
  readFinalBlock,
} from './range-facts.ts';
import { writeRange } from './write-range.ts';

/** Final and covered blocks only. A killed export continues after its last file. */

export interface ExportOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly chain: ExportChain;
  readonly table: ExportTable;
  readonly from: number;
  /** Null: the newest final block, or no end with `follow`. */
  readonly to: number | null;
  readonly out: string;
  readonly blocksPerFile: number;
  /** Waits for blocks that are not final or not covered. */
  readonly follow: boolean;
  onProgress?(progress: { readonly done: number; readonly total: number; readonly logs: number }): void;
  onRewrite?(range: BlockRange, reason: Rewrite): void;
}

type Rewrite = ChangeCause | 'missing file';

interface ExportResult {
  readonly folder: string;
  /** Includes rewritten files. A range without rows has none. */
  readonly written: number;
  readonly rewritten: number;
  readonly rows: number;
  readonly blocks: number;
  /** End of the exported range without a gap; null: its first block is missing. */
  readonly to: number | null;
  /** False if it was stopped, or blocks are missing. */
  readonly isFinished: boolean;
}

const FOLLOW_MS = 5_000;
const FOLLOW_PARTS = 100;

/** With `follow` and without `to`, ends when the signal aborts. @throws errors of `errors.ts` */
export async function exportTable(options: ExportOptions, signal: AbortSignal): Promise<ExportResult> {
  const { out, chain, clock, table, blocksPerFile } = options;
  const identity: ExportIdentity = { table, chain: chain.key, chainId: chain.id, blocksPerFile };
  if (!options.follow) {
    const final = await requireChain(options.database, chain, false);
    if (options.to !== null && options.to > final) throw new ExportNotFinalError(chain.key, options.to, final);
  }
  const folders = await openFolders(out, identity);
  const held = await holdFolder(options.database, clock, folders.data);
  try {
    const run = new Run(options, await openManifest(folders, identity));
    for (;;) {
      const isDone = await run.round(signal);
      if (isDone || !options.follow) return run.result();
      await sleepUnlessAborted(clock, FOLLOW_MS, signal);
      if (signal.aborted) return run.result();
    }
  } finally {
    await held.release();
  }
}

interface Work extends PlannedFile {
  readonly reason: Rewrite | null;
}

class Run {
  readonly #options: ExportOptions;
  readonly #store: ManifestStore;
  #files: readonly ManifestFile[];
  #counts = { written: 0, rewritten: 0, rows: 0 };
  #progress = { done: 0, total: 0, logs: 0 };
  #to = -1;

  constructor(options: ExportOptions, store: ManifestStore) {
    this.#options = options;
    this.#store = store;
    this.#files = store.files;
  }

  async round(signal: AbortSignal): Promise<boolean> {
    const { database, chain, table, from, to, follow } = this.#options;
    const final = await requireChain(database, chain, follow);
    this.#to = Math.min(to ?? final, final);
    const wanted = { from, to: this.#to };
    if (wanted.to < from) return false;
    const covered = await readCovered(database, chain, table, wanted);
    const gaps = subtractRanges([wanted], [...covered, ...this.#files]);
    if (gaps.length > 0 && !follow) throw new ExportCoverageMissingError(chain.key, table.dataset, gaps);
    this.#files = this.#files.map((file) => withProof(file, covered));
    const work = [
      ...(await this.#rewrites(wanted, covered)),
      ...this.#additions(covered, follow && to !== this.#to),
    ];
    this.#progress.total += work.reduce((sum, { range }) => sum + rangeSize(range), 0);
    for (const file of work) {
      if (follow && signal.aborted) return false;
      await this.#write(file, signal);
    }
    await this.#store.save(this.#files);
    return to === this.#to && subtractRanges([wanted], this.#files).length === 0;
  }

  result(): ExportResult {
    const { from, follow, to: wanted } = this.#options;
    const exported = this.#to < from ? [] : intersectRanges([{ from, to: this.#to }], this.#files);
    const blocks = exported.reduce((sum, range) => sum + rangeSize(range), 0);
    const to = mergeRanges(exported).find((range) => range.from === from)?.to ?? null;
    // Without an end, following never finishes.
    const last = wanted ?? (follow ? Number.POSITIVE_INFINITY : this.#to);
    return { folder: this.#store.folders.data, ...this.#counts, blocks, to, isFinished: to === last };
  }

  async #rewrites(wanted: BlockRange, covered: readonly BlockRange[]): Promise<Work[]> {
    const { database, chain, table } = this.#options;
    // Rows below the retention window are gone: their files stay.
    const stored = this.#files.filter(
      (file) =>
        intersectRanges([file], [wanted]).length > 0 &&
        subtractRanges([clipped(file, wanted)], covered).length === 0,
    );
    const changed = await findChanged(database, chain, table, stored);
    const work: Work[] = [];
    for (const file of stored) {
      const { data } = this.#store.folders;
      const reason =
        changed.get(file) ?? ((await onFiles(data, () => isPresent(data, file))) ? null : 'missing file');
      const { from, to } = file;
      if (reason !== null) work.push({ range: { from, to }, replaces: [file], reason });
    }
    return work;
  }

  #additions(covered: readonly BlockRange[], waits: boolean): Work[] {
    const { blocksPerFile } = this.#options;
    const blocksMin = waits ? Math.max(1, Math.floor(blocksPerFile / FOLLOW_PARTS)) : 1;
    const planned = planFiles({ available: covered, existing: this.#files, blocksPerFile, blocksMin });
    return planned.map((file) => ({ ...file, reason: null }));
  }

  async #write({ range, replaces, reason }: Work, signal: AbortSignal): Promise<void> {
    const { database, chain, table, onRewrite, onProgress } = this.#options;
    const { folders } = this.#store;
    const former = reason === 'missing file' ? undefined : this.#files.find((file) => isSame(file, range));
    const onRows = (rows: number): void => {
      this.#progress.logs += rows;
      onProgress?.({ ...this.#progress });
    };
    const written = await writeRange({ database, chain, table, folders, range, former, onRows }, signal);
    if (written === null) return;
    const replaced = this.#files.filter((file) => replaces.some((former) => isSame(file, former)));
    this.#files = [...this.#files.filter((file) => !replaced.includes(file)), written];
    await this.#store.save(this.#files);
    for (const { path } of replaced)
      if (path !== null && path !== written.path)
        await onFiles(folders.data, () => rm(join(folders.data, path), { force: true }));
    this.#progress.done += rangeSize(range);
    onProgress?.({ ...this.#progress });
    if (former !== undefined && former.sha256 === written.sha256) return;
    if (written.path !== null) this.#counts.written += 1;
    this.#counts.rows += written.rows;
    if (reason === null) return;
    this.#counts.rewritten += 1;
    onRewrite?.(range, reason);
  }
}

async function requireChain(database: Database, chain: ExportChain, waits: boolean): Promise<number> {
  const final = await readFinalBlock(database, chain);
  if (final === null && !waits) throw new ExportNotFinalError(chain.key, 0, null);
  return final ?? -1;
}

function isSame(one: BlockRange, other: BlockRange): boolean {
  return one.from === other.from && one.to === other.to;
}

function clipped({ from, to }: BlockRange, within: BlockRange): BlockRange {
  return { from: Math.max(from, within.from), to: Math.min(to, within.to) };
}

function withProof(file: ManifestFile, covered: ManifestFile['proof']): ManifestFile {
  const proof = covered
    .filter(({ from, to }) => to >= file.from && from <= file.to)
    .map((level) => ({ ...level, ...clipped(level, file) }));
  return subtractRanges([file], proof).length > 0 ? file : { ...file, proof: joinLevels(proof) };
}

/** Postgres may notice the end of a killed process late. */
const TRIES = 20;
const TRY_AGAIN_MS = 250;

/** Holds the folder (a real path) until released or the process ends. @throws ExportRunningError */
async function holdFolder(
  database: Database,
  clock: Pick<Clock, 'sleep'>,
  folder: string,
): Promise<{ release(): Promise<void> }> {
  const client = database.session();
  await client.connect();
  const release = () => client.end();
  try {
    for (let left = TRIES; left > 0; left--) {
      const [lock] = await queryOn<{ isHeld: boolean }>(
        client,
        sql`SELECT pg_try_advisory_lock(hashtextextended(${`export ${hostname()}:${folder}`}, 0)) AS is_held`,
      );
      if (lock?.isHeld === true) return { release };
      if (left > 1) await clock.sleep(TRY_AGAIN_MS);
    }
    throw new ExportRunningError(folder);
  } catch (error) {
    await release();
    throw error;
  }
}
