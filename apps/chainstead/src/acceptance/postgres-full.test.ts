/** The whole program over an embedded Postgres whose disk is full for a while. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScriptedChain, serveScriptedChain } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ProgramProcess, startProgram } from '../testing/program-process.ts';

const WAIT = { timeout: 90_000, interval: 500 };
const chain = createScriptedChain({ seed: 12, finalityDepth: 8 });
let upstream: Awaited<ReturnType<typeof serveScriptedChain>>;
let disk: string;
let isMounted = false;
let program: ProgramProcess | undefined;

beforeAll(async () => {
  chain.mine(30);
  upstream = await serveScriptedChain(chain);
  disk = await mkdtemp(join(tmpdir(), 'chainstead-full-'));
  isMounted = mountSmallDisk(disk);
});

afterAll(async () => {
  program?.kill('SIGTERM');
  await program?.exited;
  await upstream?.close();
  if (isMounted) execFileSync('umount', [disk]);
  await rm(disk, { recursive: true, force: true });
});

/** @returns false where this user may not mount anything */
function mountSmallDisk(folder: string): boolean {
  if (platform() !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=192m,mode=755', 'tmpfs', folder], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

describe('the disk of Postgres is full', () => {
  it('is named, blames no upstream, and is over once there is space', { timeout: 300_000 }, async ({ skip }) => {
    if (!isMounted) {
      process.stderr.write('NOT RUN: a full disk under Postgres, which takes root and the right to mount a tmpfs\n');
      skip();
    }
    const environment = {
      DATA_DIR: join(disk, 'state'),
      PORT: '0',
      CHAINS: 'scripted',
      CHAIN_ID_SCRIPTED: '31337',
      RPC_URLS_SCRIPTED: upstream.url,
      START_BLOCK_SCRIPTED: '0',
      POLL_INTERVAL_MS_SCRIPTED: '100',
    };
    program = startProgram(['start'], { environment });
    const [, address = ''] = await program.waitFor(/API {7}(http:\S+)\/api\/v2\.2/);
    await vi.waitFor(async () => expect((await fetch(`${address}/ready`)).status).toBe(200), WAIT);

    const ballast = join(disk, 'ballast');
    const { bavail, bsize } = await statfs(disk);
    const more = Buffer.alloc((bavail + 256) * bsize);
    await expect(writeFile(ballast, more)).rejects.toMatchObject({ code: 'ENOSPC' });
    await vi.waitFor(() => {
      chain.mine(5);
      expect(program?.output()).toContain('The database has no disk space left');
    }, WAIT);
    const [wallet] = chain.wallets;
    expect((await fetch(`${address}/api/v2.2/${wallet}/erc20/transfers?chain=scripted`)).status).toBe(200);
    const status = startProgram(['status'], { environment });
    await status.exited;
    expect(status.output()).toContain('The database has no disk space left');
    expect(status.output()).not.toContain('no error');

    expect(program.output().match(/Worker failed outside of a job/g)?.length ?? 0).toBeLessThan(20);

    await rm(ballast);
    await vi.waitFor(async () => {
      const metrics = await (await fetch(`${address}/metrics`)).text();
      expect(metrics).toContain(`chainstead_sync_checkpoint_block{chain="scripted",role="ingest"} ${chain.head}\n`);
    }, WAIT);
    await vi.waitFor(async () => expect((await fetch(`${address}/ready`)).status).toBe(200), WAIT);
    const said = (what: RegExp): number => program?.output().match(what)?.length ?? 0;
    // Each of the processes may have met it, and tells it once.
    expect(said(/"msg":"Database unavailable"/g)).toBeLessThanOrEqual(3);
  });
});
