import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { exportCoins, networkOfChain } from '@chainstead/aptos';
import { UsageError } from '../errors/usage-error.ts';
import { writeOutcome } from '../ranges/range-command.ts';
import type { Invocation } from '../session/command-context.ts';
import { withDatabase } from '../session/with-database.ts';

const LINES_AROUND = 2;

export async function exportAptosCoins(
  invocation: Invocation<{ readonly chain: string }>,
  file: string,
): Promise<void> {
  const { options, context } = invocation;
  const network = networkOfChain(options.chain);
  if (network === null)
    throw new UsageError(`--chain ${options.chain} is not an Aptos network`, 'Use aptos or aptos-testnet');
  await withDatabase(invocation, 'export', async ({ database }) => {
    const lines = await writeFile(file, exportCoins(database, network), context.stopSignal);
    const coins = lines - LINES_AROUND;
    writeOutcome(context, `Wrote ${coins} coins of ${options.chain} to ${file}.`, {
      ...{ work: 'export', kind: 'aptos-coins', chain: options.chain, coins, file, finished: true },
    });
  });
}

/** Writes next to the file first: it is always complete. @returns lines written */
async function writeFile(file: string, lines: AsyncIterable<string>, signal: AbortSignal): Promise<number> {
  const part = `${file}.part`;
  let count = 0;
  const counted = async function* (): AsyncGenerator<string> {
    for await (const line of lines) {
      count++;
      yield line;
    }
  };
  // Follows no link.
  await rm(part, { force: true });
  try {
    await pipeline(counted, createWriteStream(part, { flags: 'wx' }), { signal });
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return count;
}
