import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createScratchDatabase, findPostgresPrograms, startProgram } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';

const programs = await findPostgresPrograms();
if (programs === undefined)
  process.stdout.write("NOT RUN: chainstead psql (Debian's postgresql is not on this machine)\n");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chainstead-psql-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** @param PATH of the command, which starts psql */
async function psql(PATH: string, ...args: readonly string[]): Promise<{ exitCode: unknown; output: string }> {
  const program = startProgram(['psql', ...args], { environment: { DATA_DIR: folder, PATH } });
  return { exitCode: await program.exited, output: program.output() };
}

it('needs the address of a superuser on a server of your own', async () => {
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  const { exitCode, stderr } = await runCaptured(['psql', '--superuser'], { DATABASE_URL: scratch.url });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('DATABASE_SUPERUSER_URL is not set')]);
});

describe.runIf(programs !== undefined)('chainstead psql', () => {
  const path = `${programs?.bin}:${process.env.PATH}`;
  beforeAll(async () => {
    const { exitCode, stderr } = await runCaptured(['migrate'], { DATA_DIR: folder });
    expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
  });

  it('runs a query as the role of Chainstead, or as the superuser', async () => {
    expect(await psql(path, '-Atc', 'SELECT current_user')).toMatchObject({
      exitCode: 0,
      output: expect.stringMatching(/^chainstead$/m),
    });
    expect(await psql(path, '--superuser', '-Atc', 'SELECT current_user')).toMatchObject({
      exitCode: 0,
      output: expect.stringMatching(/^postgres$/m),
    });
  });

  it('fails with a query that fails', async () => {
    const { exitCode, output } = await psql(path, '-c', 'SELECT missing');
    expect([exitCode, output]).toEqual([1, expect.stringContaining('psql ended with exit code 1')]);
  });

  it('prints the address of each role, and names the missing package if psql is not installed', async () => {
    const environment = { DATA_DIR: folder };
    const own = await runCaptured(['psql', '--url'], environment);
    expect(own).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^postgres:\/\/chainstead:\S+\n$/) });
    const { stdout } = await runCaptured(['psql', '--superuser', '--url'], environment);
    expect(stdout).toMatch(/^postgres:\/\/postgres:\S+\n$/);
    expect(await psql('/nowhere')).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/^(?![\s\S]*postgres:\/\/)[\s\S]*postgresql-client/),
    });
  });
});
