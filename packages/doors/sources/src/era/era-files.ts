import { basename, resolve } from 'node:path';
import { type BlockRange, InvalidPrimitiveError } from '@chainstead/core';
import { InvalidHexBytesError } from '@chainstead/proof';
import { MalformedAnswerError } from '@chainstead/rpc';
import type { RefusedFile } from '../block-source.ts';
import { SourceError, type SourceFault } from '../source-error.ts';
import { EraDamage } from './era-damage.ts';
import { type EraFile, openEraFile } from './era-file.ts';
import { createEraFolder, type EraFileFacts, isSystemError, lastBlock } from './era-folder.ts';

export interface EraFiles {
  readonly name: string;
  /** @throws SourceError */
  available(): Promise<readonly BlockRange[]>;
  /** Ends at the first hole. @param read null: the file lacks the part @throws SourceError */
  eachBlock<T extends object>(
    range: BlockRange,
    signal: AbortSignal,
    read: (file: EraFile, number: number) => Promise<T | null>,
  ): AsyncGenerator<T & { readonly file?: string }>;
  /** {@link EraFolder.refuse} */
  refuse(file: string, blocks: BlockRange, reason: string): boolean;
  refusals(): readonly RefusedFile[];
  revision(): number;
  failure(fault: SourceFault, what: string): SourceError;
}

const TRY_NEXT = Symbol('try the next file');

/** Errors of files as those of the source. */
export function createEraFiles(
  path: string,
  network: string,
  onRefusal?: (reason: string) => void,
  isOffered?: (facts: EraFileFacts) => boolean,
): EraFiles {
  const name = `era ${basename(resolve(path))}`;
  const folder = createEraFolder(path, network, onRefusal, isOffered);
  const failure = (fault: SourceFault, what: string) => new SourceError({ source: name, fault, what });

  async function refresh(): Promise<void> {
    try {
      await folder.refresh();
    } catch (error) {
      throw isSystemError(error) ? failure('unavailable', error.message) : error;
    }
  }

  /** @throws SourceError if the file does not hold, and no other one has the block */
  async function attempt<T>(
    facts: EraFileFacts,
    block: number,
    read: () => Promise<T>,
  ): Promise<T | typeof TRY_NEXT> {
    try {
      return await read();
    } catch (error) {
      const isWrong = isDamage(error);
      if (!isWrong && !isSystemError(error)) throw error;
      const isOfFile = !isWrong || (error instanceof EraDamage && error.isOfFile);
      const blocks = { from: block, to: isOfFile ? lastBlock(facts) : block };
      if (folder.refuse(facts.name, blocks, error.message)) return TRY_NEXT;
      throw failure(isWrong ? 'wrong' : 'unavailable', `${facts.name}: ${error.message}`);
    }
  }

  /** Null: no file has the block. */
  async function openAt(block: number): Promise<EraFile | null> {
    for (let isFresh = false; ; ) {
      const [facts] = folder.filesOf(block);
      const file = facts === undefined ? null : await attempt(facts, block, () => openEraFile(facts, 'blocks'));
      if (file === TRY_NEXT) continue;
      if (file !== null || isFresh) return file;
      await refresh();
      isFresh = true;
    }
  }

  return {
    name,
    failure,
    refuse: folder.refuse,
    refusals: folder.refusals,
    revision: folder.revision,
    async available() {
      await refresh();
      return folder.ranges();
    },
    async *eachBlock(range, signal, read) {
      for (let number = range.from; number <= range.to; ) {
        signal.throwIfAborted();
        const file = await openAt(number);
        if (file === null && number > range.from) return;
        const refusal = file === null ? folder.refusalOf(number) : null;
        if (refusal !== null) throw failure('wrong', refusal);
        if (file === null) throw failure('unavailable', `no file has block ${number}`);
        const { facts } = file;
        const source = folder.hasOthers(facts) ? { file: facts.name } : {};
        try {
          const last = Math.min(range.to, lastBlock(facts));
          for (; number <= last; number++) {
            signal.throwIfAborted();
            const value = await attempt(facts, number, () => read(file, number));
            if (value === TRY_NEXT) break;
            if (value === null && number > range.from) return;
            if (value === null) throw failure('unavailable', `${facts.name} has no receipts`);
            yield { ...value, ...source };
          }
        } finally {
          await file.close();
        }
      }
    },
  };
}

function isDamage(error: unknown): error is Error {
  return [EraDamage, InvalidPrimitiveError, InvalidHexBytesError, MalformedAnswerError].some(
    (kind) => error instanceof kind,
  );
}
