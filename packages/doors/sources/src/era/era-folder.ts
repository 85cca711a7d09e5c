import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type BlockRange, mergeRanges } from '@chainstead/core';
import { EPOCH_BLOCKS } from '@chainstead/proof';
import { EraDamage } from './era-damage.ts';
import { type EraIndex, readEraIndex } from './era-index.ts';
import { type EraFileName, type EraFormat, parseEraFileName } from './file-name.ts';
import { createRecordReader } from './record-reader.ts';

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
  /** Files without receipts don't count. */
  ranges(): readonly BlockRange[];
  /** The best file first. */
  filesOf(block: number): readonly EraFileFacts[];
  /** Why a file that should contain the block is refused. */
  refusalOf(block: number): string | null;
}

interface Listed {
  readonly name: EraFileName;
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly facts: EraFileFacts | null;
  readonly refusal: string | null;
}

/** An index is read again only if size or time of its file changed. @param isOffered false: not in `ranges` */
export function createEraFolder(
  folder: string,
  network: string,
  onRefusal: (reason: string) => void = () => undefined,
  isOffered: (facts: EraFileFacts) => boolean = () => true,
): EraFolder {
  let listed: ReadonlyMap<string, Listed> = new Map();

  async function refresh(): Promise<void> {
    const files = new Map<string, Listed>();
    for (const fileName of await readdir(folder)) {
      const name = parseEraFileName(fileName);
      if (name?.network !== network) continue;
      const path = join(folder, fileName);
      const status = await stat(path);
      if (!status.isFile()) continue;
      const { size: bytes, mtimeMs: modifiedMs } = status;
      const before = listed.get(fileName);
      const isSame = before?.bytes === bytes && before.modifiedMs === modifiedMs;
      const file = isSame ? before : await list(path, fileName, name, { bytes, modifiedMs });
      if (!isSame && file.refusal !== null) onRefusal(file.refusal);
      files.set(fileName, file);
    }
    listed = files;
  }

  const all = (): readonly EraFileFacts[] => [...listed.values()].flatMap(({ facts }) => facts ?? []);
  return {
    refresh,
    ranges: () =>
      mergeRanges(
        all()
          .filter((facts) => hasReceipts(facts) && isOffered(facts))
          .map((facts) => ({ from: facts.index.first, to: lastBlock(facts) })),
      ),
    filesOf: (block) =>
      all()
        .filter((facts) => facts.index.first <= block && block <= lastBlock(facts))
        .toSorted((left, right) => rank(right) - rank(left) || lastBlock(right) - lastBlock(left)),
    refusalOf: (block) => {
      const epoch = Math.floor(block / EPOCH_BLOCKS);
      return (
        [...listed.values()].find(({ name, refusal }) => refusal !== null && name.epoch === epoch)?.refusal ??
        null
      );
    },
  };
}

export function lastBlock({ index }: EraFileFacts): number {
  return index.first + index.count - 1;
}

async function list(
  path: string,
  fileName: string,
  name: EraFileName,
  state: Pick<Listed, 'bytes' | 'modifiedMs'>,
): Promise<Listed> {
  const handle = await open(path, 'r');
  try {
    const index = await readEraIndex(createRecordReader(handle, state.bytes, 0), state.bytes, name);
    const facts = { path, name: fileName, format: name.format, ...state, index };
    return { name, ...state, facts, refusal: null };
  } catch (error) {
    if (error instanceof EraDamage)
      return { name, ...state, facts: null, refusal: `${fileName}: ${error.message}` };
    throw error;
  } finally {
    await handle.close();
  }
}

/** Receipts before proofs: without them, blocks are read from nodes. */
function rank(facts: EraFileFacts): number {
  return (hasReceipts(facts) ? 2 : 0) + (hasProofs(facts) ? 1 : 0);
}

export function hasProofs({ format, index }: EraFileFacts): boolean {
  return format !== 'ere' || index.columns.includes('proof');
}

function hasReceipts({ format, index }: EraFileFacts): boolean {
  return format !== 'ere' || index.columns.includes('receipts');
}
