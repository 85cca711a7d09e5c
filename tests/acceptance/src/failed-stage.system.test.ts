/** A stage whose third step throws: the parts that it has acquired by then are gone. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { descendantsOf } from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openHoldingsStage } from './assets/holdings-stage.ts';
import { createStreamStage } from './stream-stage.ts';

/** The program refuses it and ends. The node and the database run by then. */
const REFUSED = { POLL_INTERVAL_MS: 'never' };
const CHAIN_ID = 31_399;

let folder: string;
let before: ReadonlySet<number>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chainstead-failed-stage-'));
  before = new Set(descendantsOf(process.pid));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** Processes and temporary files that this test left. */
async function readLeftovers(): Promise<unknown> {
  return {
    processes: descendantsOf(process.pid).filter((pid) => !before.has(pid)),
    files: await readdir(folder),
  };
}

describe.runIf(platform() === 'linux')('a stage whose third step throws', () => {
  test('leaves no process, folder or database', async () => {
    let url = '';
    const running = createStreamStage(CHAIN_ID, async (scratch) => {
      url = scratch.url;
      vi.stubEnv('TMPDIR', folder);
      expect(await readLeftovers()).not.toEqual({ processes: [], files: [] });
      return REFUSED;
    });
    await expect(running).rejects.toThrow('POLL_INTERVAL_MS');
    await expect.poll(readLeftovers).toEqual({ processes: [], files: [] });
    const database = openDatabase({
      url,
      applicationName: 'chainstead-test',
      poolSize: 1,
      logger: silentLogger(),
    });
    await expect(database.query(sql`SELECT 1`)).rejects.toThrow('does not exist');
    await database.close();
  });

  test('leaves no port open', async () => {
    let url = '';
    const running = openHoldingsStage({
      chainId: CHAIN_ID,
      sizes: [],
      async prepare(devnet) {
        url = devnet.url;
        vi.stubEnv('TMPDIR', folder);
        await devnet.mine();
        return REFUSED;
      },
    });
    await expect(running).rejects.toThrow('POLL_INTERVAL_MS');
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    await expect.poll(readLeftovers).toEqual({ processes: [], files: [] });
  });
});
