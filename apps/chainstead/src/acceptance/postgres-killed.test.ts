/** The whole program over its embedded Postgres, whose postmaster is killed under it. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScriptedChain, serveScriptedChain } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { commandLineOf, descendantsOf, type ProgramProcess, startProgram } from '../testing/program-process.ts';

const WAIT = { timeout: 90_000, interval: 200 };
const chain = createScriptedChain({ seed: 11, finalityDepth: 8 });
let upstream: Awaited<ReturnType<typeof serveScriptedChain>>;
let dataDir: string;
let program: ProgramProcess | undefined;

beforeAll(async () => {
  chain.mine(30);
  upstream = await serveScriptedChain(chain);
  dataDir = await mkdtemp(join(tmpdir(), 'chainstead-killed-'));
});

afterAll(async () => {
  program?.kill('SIGKILL');
  await program?.exited;
  const pid = await postmasterPid();
  await vi.waitFor(() => expect(commandLineOf(pid)).toBeNull(), WAIT);
  await upstream?.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** -1 when there is none. */
async function postmasterPid(): Promise<number> {
  try {
    return Number((await readFile(join(dataDir, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return -1;
    throw error;
  }
}

/** Postmasters among what the program started. */
function postmasters(pid: number): number[] {
  return descendantsOf(pid).filter((child) => / -D .*-c port=/.test(commandLineOf(child) ?? ''));
}

describe.runIf(platform() === 'linux')('the embedded Postgres is killed', () => {
  it('is started again; pages answer 503 meanwhile and then again, and rows go on', { timeout: 240_000 }, async () => {
    program = startProgram(['start'], {
      environment: {
        DATA_DIR: dataDir,
        PORT: '0',
        CHAINS: 'scripted',
        CHAIN_ID_SCRIPTED: '31337',
        RPC_URLS_SCRIPTED: upstream.url,
        START_BLOCK_SCRIPTED: '0',
        POLL_INTERVAL_MS_SCRIPTED: '100',
      },
    });
    const [, address = ''] = await program.waitFor(/API {7}(http:\S+)\/api\/v2\.2/);
    const ready = async (): Promise<number> => (await fetch(`${address}/ready`)).status;
    const [wallet] = chain.wallets;
    const page = (): Promise<Response> => fetch(`${address}/api/v2.2/${wallet}/erc20/transfers?chain=scripted`);
    await vi.waitFor(async () => expect(await ready()).toBe(200), WAIT);
    expect((await page()).status).toBe(200);

    const [killed = -1] = postmasters(program.pid);
    expect(killed).toBe(await postmasterPid());
    process.kill(killed, 'SIGKILL');
    const seen = new Map<number, { body: unknown; retryAfter: string | null }>();
    await vi.waitFor(async () => {
      const response = await page();
      seen.set(response.status, { body: await response.json(), retryAfter: response.headers.get('retry-after') });
      expect(response.status).toBe(503);
    }, WAIT);
    expect(seen.get(503)).toEqual({
      body: { message: 'The database is unavailable: try again later' },
      retryAfter: expect.stringMatching(/^\d+$/),
    });

    await program.waitFor(/Embedded Postgres ended by itself, starting it again/);
    await program.waitFor(/Embedded Postgres runs again/);
    await vi.waitFor(async () => {
      const response = await page();
      seen.set(response.status, { body: await response.json(), retryAfter: null });
      expect(response.status).toBe(200);
    }, WAIT);
    expect([...seen.keys()].toSorted()).toEqual([200, 503]);

    chain.mine(10);
    await vi.waitFor(async () => {
      const metrics = await (await fetch(`${address}/metrics`)).text();
      expect(metrics).toMatch(/chainstead_sync_checkpoint_block\{chain="scripted",role="ingest"\} 40\b/);
    }, WAIT);
    await vi.waitFor(async () => expect(await ready()).toBe(200), WAIT);
    expect(postmasters(program.pid)).toEqual([await postmasterPid()]);
    expect(postmasters(program.pid)).not.toContain(killed);

    process.kill(await postmasterPid(), 'SIGKILL');
    await program.waitFor(/ended by itself[\s\S]*ended by itself/);
    program.kill('SIGINT');
    expect(await program.exited).toBe(0);
    expect(commandLineOf(await postmasterPid())).toBeNull();
  });
});
