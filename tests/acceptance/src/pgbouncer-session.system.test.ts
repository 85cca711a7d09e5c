/** The running program with PgBouncer in session mode before its database. */
import { startScratchPgBouncer } from '@chainstead/testkit';
import { afterAll, it } from 'vitest';
import { mintAndSee } from './mint-and-see.ts';
import { createStreamStage } from './stream-stage.ts';

// Processes start slowly on a busy machine.
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

it('behind PgBouncer in session mode the program follows, delivers, queues and serves', async ({ skip }) => {
  const stage = await createStreamStage(1_337_031, async ({ url }): Promise<Readonly<Record<string, string>>> => {
    const bouncer = await startScratchPgBouncer(url, 'session');
    if (bouncer === undefined) return {};
    closing.push(() => bouncer.stop());
    return { DATABASE_URL: bouncer.url };
  });
  closing.push(() => stage.close());
  if (closing.length === 1) {
    process.stdout.write(
      'NOT RUN: the program behind PgBouncer in session mode (no pgbouncer on this machine)\n',
    );
    skip();
  }
  await mintAndSee(stage);
});
