import { basename, resolve } from 'node:path';
import { type BlockRange, InvalidPrimitiveError } from '@chainstead/core';
import { InvalidHexBytesError } from '@chainstead/proof';
import { MalformedAnswerError } from '@chainstead/rpc';
import { SourceError, type SourceFault } from '../source-error.ts';
import { EraDamage } from './era-damage.ts';
import { type EraFile, openEraFile } from './era-file.ts';
import { createEraFolder, type EraFileFacts, lastBlock } from './era-folder.ts';

export interface EraFiles {
  readonly name: string;
  /** @throws SourceError */
  available(): Promise<readonly BlockRange[]>;
  /** Ends at the first hole. @param read null: the file lacks the part @throws SourceError */
  eachBlock<T>(
    range: BlockRange,
    signal: AbortSignal,
    read: (file: EraFile, number: number) => Promise<T | null>,
  ): AsyncGenerator<T>;
  failure(fault: SourceFault, what: string): SourceError;
}

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

  async function guarded<T>(file: string | null, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      const place = file === null ? '' : `${file}: `;
      if (isDamage(error)) throw failure('wrong', `${place}${error.message}`);
      throw isSystemError(error) ? failure('unavailable', `${place}${error.message}`) : error;
    }
  }

  /** Null: no file has the block. */
  async function openAt(block: number): Promise<EraFile | null> {
    for (let isFresh = false; ; isFresh = true) {
      const [facts] = folder.filesOf(block);
      const file = facts === undefined ? null : await guarded(facts.name, () => openEraFile(facts, 'blocks'));
      if (file !== null || isFresh) return file;
      await guarded(null, folder.refresh);
    }
  }

  return {
    name,
    failure,
    async available() {
      await guarded(null, folder.refresh);
      return folder.ranges();
    },
    async *eachBlock(range, signal, read) {
      for (let number = range.from; number <= range.to; ) {
        signal.throwIfAborted();
        const file = await openAt(number);
        const refusal = file === null ? folder.refusalOf(number) : null;
        if (refusal !== null) throw failure('wrong', refusal);
        if (file === null && number > range.from) return;
        if (file === null) throw failure('unavailable', `no file has block ${number}`);
        try {
          const last = Math.min(range.to, lastBlock(file.facts));
          for (; number <= last; number++) {
            signal.throwIfAborted();
            const value = await guarded(file.facts.name, () => read(file, number));
            if (value === null && number > range.from) return;
            if (value === null) throw failure('unavailable', `${file.facts.name} has no receipts`);
            yield value;
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

/** Thrown by the file system. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}
