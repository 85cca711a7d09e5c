import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('./main.ts', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chainstead-soak-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function run(args: readonly string[]): Promise<{ code: number; output: string; errors: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], (error, output, errors) =>
      resolve({ code: Number(error?.code ?? 0), output, errors }),
    );
  });
}

describe('npm run soak', () => {
  it('tells its options, and refuses what it does not know', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, output: expect.stringContaining('--minutes') });
    for (const [args, reason] of [
      [['--minutes', 'long'], '--minutes is a number from 0.1 to 1440, not long'],
      [['--env', 'nothing'], '--env is KEY=VALUE, not nothing'],
      [['--hours', '1'], "'--hours'"],
    ] as const)
      expect(await run(args)).toMatchObject({ code: 2, errors: expect.stringContaining(reason) });
  });

  it('ends at Ctrl-C with all that it started, and reports what there was: nothing lost, rows as the chain has them', async () => {
    const report = join(folder, 'report.json');
    // To ask about two thousand wallets first takes minutes; what the program compiled is where every other start of it looks.
    const options = ['--minutes', '10', '--rate', '6', '--every', '2', '--wallets', '20', '--report', report];
    const compiled = join(tmpdir(), 'node-compile-cache');
    const soak = spawn(process.execPath, [PROGRAM, ...options], {
      env: { NODE_COMPILE_CACHE: compiled, ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(soak, 'exit');
    let output = '';
    let samples = 0;
    for (const stream of [soak.stdout, soak.stderr])
      createInterface(stream).on('line', (line) => {
        output += `${line}\n`;
        if (line.includes(' of 10:00 | ') && ++samples === 2) soak.kill('SIGINT');
      });
    const [code] = await ended;
    expect(code, output).toBe(0);
    expect(output).toContain('All verdicts passed');
    const { interrupted, verdicts, samples: kept } = JSON.parse(await readFile(report, 'utf8'));
    expect({ interrupted, samples: kept.length >= 2 }).toEqual({ interrupted: true, samples: true });
    const measured = new Map<string, { passed: boolean | null; measured: string }>(
      verdicts.map((one: { name: string }) => [one.name, one]),
    );
    for (const name of ["blocks with other transfers than the chain's", 'webhooks lost', 'webhooks twice'])
      expect(measured.get(name)).toMatchObject({ passed: true, measured: '0' });
    expect(measured.get('p99 of pages')?.passed).toBeNull();
    const webhooks = kept.reduce((sum: number, { world }: { world: { webhooks: number } }) => sum + world.webhooks, 0);
    expect(webhooks).toBeGreaterThan(20);
    expect((await readdir(folder)).filter((name) => name.startsWith('chainstead-soak'))).toEqual([]);
  });
});
