import { stat } from 'node:fs/promises';
import type { ChainRegistry } from '@chainstead/chains';
import { addContract, ContractRefusedError } from '@chainstead/contracts/datasets';
import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type AuditActor, START_ACTOR } from '@chainstead/http/audit-log';
import { ContractsFileError, readContractsFile } from './contracts-file.ts';

const LOOK_MS = 1_000;

export interface ContractsFileWatch {
  readonly path: string;
  readonly database: Database;
  readonly chains: ChainRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Stored contracts stay. @throws ContractsFileError after adding the others */
export async function applyContractsFile(
  { path, database, chains }: Pick<ContractsFileWatch, 'path' | 'database' | 'chains'>,
  by: AuditActor = START_ACTOR,
): Promise<number> {
  const wanted = await readContractsFile(path, chains);
  const problems: string[] = [];
  for (const one of wanted)
    try {
      await addContract(database, one, by);
    } catch (error) {
      if (!(error instanceof ContractRefusedError)) throw error;
      problems.push(`${one.name}: ${error.message}`);
    }
  if (problems.length > 0) throw new ContractsFileError(path, problems);
  return wanted.length;
}

/** Again after each change, until the abort. Errors are logged and change nothing. */
export async function watchContractsFile(watch: ContractsFileWatch, signal: AbortSignal): Promise<void> {
  const { path, clock, logger } = watch;
  let applied: string | null = null;
  for (; !signal.aborted; await sleepUnlessAborted(clock, LOOK_MS, signal)) {
    const stamp = await stampOf(path);
    if (stamp === applied) continue;
    try {
      const contracts = await applyContractsFile(watch);
      logger.info({ path, contracts }, 'The contracts of the file were applied');
      applied = stamp;
    } catch (error) {
      logger.error({ path, error: errorText(error) }, 'The contracts of the file could not be applied');
      // An outage passes; a wrong file stays wrong until it changes.
      if (error instanceof ContractsFileError) applied = stamp;
    }
  }
}

async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    return errorText(error);
  }
}
