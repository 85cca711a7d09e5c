/** The running program with PgBouncer in transaction mode before its database. */
import { createScratchDatabase, startProgram, startScratchPgBouncer } from '@chainstead/testkit';
import { EXIT_CODE_FAILED } from 'chainstead/src/errors/exit-codes.ts';
import { afterAll, describe, expect, it } from 'vitest';
import { mintAndSee } from './mint-and-see.ts';
import { createStreamStage } from './stream-stage.ts';

// Processes start slowly on a busy machine.
const scratch = await createScratchDatabase();
const bouncer = await startScratchPgBouncer(scratch.url, 'transaction');
if (bouncer === undefined)
  process.stdout.write(
    'NOT RUN: the program behind PgBouncer in transaction mode (no pgbouncer on this machine)\n',
  );
afterAll(async () => {
  await bouncer?.stop();
  await scratch.drop();
});

describe.runIf(bouncer !== undefined)('behind PgBouncer in transaction mode the program', () => {
  it('refuses to start, and names what to set', async () => {
    const program = startProgram(['start'], {
      environment: { DATABASE_URL: bouncer?.url ?? '', PORT: '0', CHAINS: '' },
    });
    try {
      await expect(program.url).rejects.toThrow(`Ended (${EXIT_CODE_FAILED})`);
      expect(program.output()).toMatch(/pooler in transaction mode/);
      expect(program.output()).toMatch(/DATABASE_SESSION_URL/);
    } finally {
      await program.kill();
    }
  });

  it('with sessions past it follows, delivers, queues and serves', async () => {
    const stage = await createStreamStage(1_337_032, async ({ url }) => {
      const through = new URL(url);
      through.port = new URL(bouncer?.url ?? '').port;
      return { DATABASE_URL: through.href, DATABASE_SESSION_URL: url };
    });
    try {
      await mintAndSee(stage);
    } finally {
      await stage.close();
    }
  });
});
