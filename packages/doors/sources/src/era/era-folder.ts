import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type BlockRange, errorText, intersectRanges, mergeRanges, subtractRanges } from '@chainstead/core';
import { EPOCH_BLOCKS } from '@chainstead/proof';
import type { RefusedFile } from '../block-source.ts';
import { createRecordReader, EraDamage } from './era-damage.ts';
import { type EraFileName, type EraFormat, type EraIndex, parseEraFileName, readEraIndex } from './era-index.ts';

export interface EraFileFacts {
  readonly path: string;
  readonly name: string;
  readonly format: EraFormat;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly index: EraIndex;
}

export interface EraFolder {
  /** Lists the files again. @throws the errors of `node:fs` */
  refresh(): Promise<void>;
  /** Files without receipts don't count, nor blocks for which a file is refused. */
  ranges(): readonly BlockRange[];
  /** The best file first, without those that are refused for the block. */
  filesOf(block: number): readonly EraFileFacts[];
  /** Another file has some of its blocks. */
  hasOthers(facts: EraFileFacts): boolean;
  /**
   * Leaves the file out for these blocks if another one has the first of them.
   * @returns false if none has: all files of the block may be tried again
   */
  refuse(file: string, blocks: BlockRange, reason: string): boolean;
  refusals(): readonly RefusedFile[];
  /** Why a file that should contain the block is refused. */
  refusalOf(block: number): string | null;
  /** Another number if files were added, changed or removed. */
  revision(): number;
}

interface Refusal {
  readonly reason: string;
  readonly ranges: readonly BlockRange[];
  readonly sinceMs: number;
}

/** A node that was wrong for a moment must not rule a file out permanently. */
const REFUSED_FOR_MS = 600_000;

interface Listed {
  readonly name: EraFileName;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly facts: EraFileFacts | null;
  readonly refusal: string | null;
  /** False: the system refused it. */
  readonly isRead: boolean;
}

/** An index is read again only if size or time of its file changed. @param isOffered false: not in `ranges` */
export function createEraFolder(
  folder: string,
  network: string,
  onRefusal: (reason: string) => void = () => undefined,
  isOffered: (facts: EraFileFacts) => boolean = () => true,
): EraFolder {
  let listed: ReadonlyMap<string, Listed> = new Map();
  let revision = 0;
  const refused = new Map<string, Refusal>();

  async function refresh(): Promise<void> {
    const files = new Map<string, Listed>();
    for (const fileName of (await readdir(folder)).toSorted()) {
      const name = parseEraFileName(fileName);
      if (name?.network !== network) continue;
      const before = listed.get(fileName);
      const file = await list(folder, fileName, name, before);
      if (file === null) continue;
      files.set(fileName, file);
      if (file !== before && file.refusal !== null && file.refusal !== before?.refusal) onRefusal(file.refusal);
    }
    const changed = [...new Set([...files.keys(), ...listed.keys()])].filter(
      (name) => !isSame(files.get(name), listed.get(name)),
    );
    for (const name of changed) refused.delete(name);
    for (const [name, { sinceMs }] of refused)
      if (performance.now() - sinceMs > REFUSED_FOR_MS) refused.delete(name);
    if (changed.length > 0) revision += 1;
    listed = files;
  }

  const all = (): readonly EraFileFacts[] => [...listed.values()].flatMap(({ facts }) => facts ?? []);
  const refusedOf = ({ name }: EraFileFacts): readonly BlockRange[] => refused.get(name)?.ranges ?? [];
  const filesOf = (block: number): readonly EraFileFacts[] =>
    all()
      .filter((facts) => includes([rangeOf(facts)], block) && !includes(refusedOf(facts), block))
      .toSorted(
        (left, right) => rank(right, refused) - rank(left, refused) || lastBlock(right) - lastBlock(left),
      );
  return {
    refresh,
    filesOf,
    revision: () => revision,
    ranges: () =>
      mergeRanges(
        all()
          .filter((facts) => hasReceipts(facts) && isOffered(facts))
          .flatMap((facts) => subtractRanges([rangeOf(facts)], refusedOf(facts))),
      ),
    hasOthers: (facts) =>
      all().some(
        (one) => one.name !== facts.name && intersectRanges([rangeOf(facts)], [rangeOf(one)]).length > 0,
      ),
    refuse(file, blocks, reason) {
      const hasOther = filesOf(blocks.from).some(({ name }) => name !== file);
      const ranges = hasOther ? mergeRanges([...(refused.get(file)?.ranges ?? []), blocks]) : [];
      if (hasOther && !refused.has(file)) onRefusal(`${file}: ${reason}`);
      refused.set(file, { reason, ranges, sinceMs: performance.now() });
      if (hasOther) return true;
      for (const [name, one] of refused)
        if (includes(one.ranges, blocks.from)) refused.set(name, { ...one, ranges: [] });
      return false;
    },
    refusals: () => [
      ...[...listed].flatMap(([file, { refusal: reason }]) => (reason === null ? [] : [{ file, reason }])),
      ...[...refused].map(([file, { reason }]) => ({ file, reason: `${file}: ${reason}` })),
    ],
    refusalOf: (block) => {
      const epoch = Math.floor(block / EPOCH_BLOCKS);
      const unreadable = [...listed.values()].find(
        ({ name, refusal }) => refusal !== null && name.epoch === epoch,
      );
      const [name, other] = [...refused].find(([, { ranges }]) => includes(ranges, block)) ?? [];
      return unreadable?.refusal ?? (other === undefined ? null : `${name}: ${other.reason}`);
    },
  };
}

export function lastBlock({ index }: EraFileFacts): number {
  return index.first + index.count - 1;
}

export function rangeOf(facts: EraFileFacts): BlockRange {
  return { from: facts.index.first, to: lastBlock(facts) };
}

function includes(ranges: readonly BlockRange[], block: number): boolean {
  return ranges.some(({ from, to }) => from <= block && block <= to);
}

function isSame(file: Listed | undefined, before: Listed | undefined): boolean {
  return (
    file?.bytes === before?.bytes && file?.modifiedMs === before?.modifiedMs && file?.refusal === before?.refusal
  );
}

/** Null: no file. One that can't be read is tried again each time: a change of permissions changes neither size nor time. */
async function list(
  folder: string,
  fileName: string,
  name: EraFileName,
  before: Listed | undefined,
): Promise<Listed | null> {
  const path = join(folder, fileName);
  let state = { bytes: 0, modifiedMs: 0 };
  try {
    const status = await stat(path);
    if (!status.isFile()) return null;
    state = { bytes: status.size, modifiedMs: status.mtimeMs };
    const isKnown = before?.bytes === state.bytes && before.modifiedMs === state.modifiedMs;
    if (isKnown && before.isRead) return before;
    const index = await readIndex(path, state.bytes, name);
    const facts = { path, name: fileName, format: name.format, ...state, index };
    return { name, ...state, facts, refusal: null, isRead: true };
  } catch (error) {
    const isRead = error instanceof EraDamage;
    const reason = isSystemError(error) ? `it can't be read (${error.code})` : errorText(error);
    if (!isRead && !isSystemError(error)) throw error;
    return { name, ...state, facts: null, refusal: `${fileName}: ${reason}`, isRead };
  }
}

async function readIndex(path: string, bytes: number, name: EraFileName): Promise<EraIndex> {
  const handle = await open(path, 'r');
  try {
    return await readEraIndex(createRecordReader(handle, bytes, 0), bytes, name);
  } finally {
    await handle.close();
  }
}

/** Thrown by the file system. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** Receipts before all: without them, blocks are read from nodes. Then files of which no block was refused. */
function rank(facts: EraFileFacts, refused: ReadonlyMap<string, unknown>): number {
  return (hasReceipts(facts) ? 4 : 0) + (refused.has(facts.name) ? 0 : 2) + (hasProofs(facts) ? 1 : 0);
}

export function hasProofs({ format, index }: EraFileFacts): boolean {
  return format !== 'ere' || index.columns.includes('proof');
}

function hasReceipts({ format, index }: EraFileFacts): boolean {
  return format !== 'ere' || index.columns.includes('receipts');
}
