/** A rolling upgrade: the next version starts and migrates the database while this one leads, serves and delivers. Then it takes over. */
import { sql } from '@chainstead/db';
import {
  createScratchDatabase,
  createScriptedChain,
  serveScriptedChain,
  startProgram,
} from '@chainstead/testkit';
import { makeNextVersion } from 'chainstead/src/testing/next-version.ts';
import { afterAll, expect, test, vi } from 'vitest';
import { scriptedChainFacts } from './indexed-chain.ts';
import { WAIT } from './outage-stage.ts';
import { expectTransferRows } from './transfer-rows.ts';

/** Changes of a next version that this one can work with. */
const NEXT = '0001_next';
const MIGRATION = `ALTER TABLE "tokens" ADD COLUMN "next" text;--> statement-breakpoint
ALTER TABLE "erc20_transfer_sides" ADD COLUMN "next" integer;--> statement-breakpoint
CREATE TABLE "next" ("id" bigint PRIMARY KEY);`;

const next = await makeNextVersion();
afterAll(() => next.remove());

const { id: CHAIN_ID } = scriptedChainFacts(31_337);
/** Between requests of a client that never stops asking. Milliseconds. */
const ASK_EVERY_MS = 25;

/** Asks an API for the same page until it is stopped. */
function keepAsking(url: string): { stop(): Promise<readonly number[]> } {
  const statuses: number[] = [];
  const stopped = new AbortController();
  const asking = (async () => {
    while (!stopped.signal.aborted) {
      // A refused connection is a failed request, with a status that does not exist.
      const status = await fetch(url).then(
        async (response) => {
          await response.arrayBuffer();
          return response.status;
        },
        () => 0,
      );
      statuses.push(status);
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await asking;
      return statuses;
    },
  };
}

test('both versions serve and follow in turn, no request fails, and the rows are those of the chain', async () => {
  await next.writeMigration(NEXT, MIGRATION);
  const chain = createScriptedChain({ seed: 20_261_122, finalityDepth: 8 });
  chain.mine(40);
  const upstream = await serveScriptedChain(chain);
  const scratch = await createScratchDatabase({ migrated: false });
  const environment = {
    DATABASE_URL: scratch.url,
    PORT: '0',
    CHAINS: 'scripted',
    CHAIN_ID_SCRIPTED: '31337',
    RPC_URLS_SCRIPTED: upstream.url,
    // Its transactions have no signatures.
    SWAPS_SCRIPTED: 'off',
    START_BLOCK_SCRIPTED: '0',
    POLL_INTERVAL_MS: '100',
  };
  const start = (entry?: string) =>
    startProgram(['start'], { environment, ...(entry !== undefined && { entry }) });
  const pageOf = (address: string) => `${address}/api/v2.2/${chain.wallets[0]}/erc20/transfers?chain=scripted`;
  const untilServing = async (program: ReturnType<typeof start>): Promise<string> => {
    const [, address = ''] = await program.waitFor(/API {7}(http:\S+)\/api\/v2\.2/);
    await vi.waitFor(async () => expect((await fetch(`${address}/ready`)).status).toBe(200), WAIT);
    return address;
  };
  const untilFollowed = (address: string): Promise<void> =>
    vi.waitFor(async () => {
      const body = (await (await fetch(pageOf(address))).json()) as { indexed?: { to_block?: string } };
      expect(body.indexed?.to_block).toBe(String(chain.head));
    }, WAIT);
  const migrations = async (): Promise<readonly string[]> =>
    (await scratch.database.query<{ name: string }>(sql`SELECT name FROM schema_migrations ORDER BY name`)).map(
      ({ name }) => name,
    );
  const older = start();
  const programs = [older];
  try {
    const olderAddress = await untilServing(older);
    await untilFollowed(olderAddress);
    expect(await migrations()).not.toContain(NEXT);
    const olderClient = keepAsking(pageOf(olderAddress));

    const newer = start(next.entry);
    programs.push(newer);
    const newerAddress = await untilServing(newer);
    expect(await migrations()).toContain(NEXT);
    const newerClient = keepAsking(pageOf(newerAddress));
    // The older version leads on the schema of the newer one.
    chain.mine(10);
    chain.reorg(3, 5);
    await untilFollowed(olderAddress);
    await untilFollowed(newerAddress);
    const rowsOf = async (address: string): Promise<unknown> =>
      ((await (await fetch(pageOf(address))).json()) as { result: unknown }).result;
    expect(await rowsOf(newerAddress)).toEqual(await rowsOf(olderAddress));

    expect(new Set(await olderClient.stop())).toEqual(new Set([200]));
    older.signal('SIGTERM');
    expect(await older.exited).toBe(0);
    const again = start();
    expect(await again.exited).not.toBe(0);
    expect(again.output()).toMatch(/SCHEMA_NEWER/);
    expect(again.output()).toContain(NEXT);
    chain.mine(10);
    chain.reorg(3, 5);
    await untilFollowed(newerAddress);
    expect(new Set(await newerClient.stop())).toEqual(new Set([200]));
    await expectTransferRows(scratch.database, chain, CHAIN_ID);
  } finally {
    for (const program of programs) program.signal('SIGTERM');
    await Promise.all(programs.map(({ exited }) => exited));
    await upstream.close();
    await scratch.drop();
  }
});
