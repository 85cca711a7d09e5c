import { randomUUID } from 'node:crypto';
import { type Address, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { hexText, type Sql, sql } from '@chainstead/db';
import { claimDue, failDue } from '@chainstead/jobs';
import { createDueWork, type DueWork } from '@chainstead/jobs/worker';
import type { UpstreamPool } from '@chainstead/rpc';
import {
  addressOf,
  type ChainNode,
  createScratchDatabase,
  createScriptedChain,
  exampleChain,
  examplePool,
  MULTICALL3_ADDRESS,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { noteAnnouncements, requestTokenFacts, rollBackAnnouncements } from './facts/token-facts-reader.ts';
import { FAILING_ATTEMPTS_MAX, SILENT_ATTEMPTS_MAX, TOKEN_FACTS, tokenRetrySeconds } from './pending-metadata.ts';
import { addTokenFacts } from './token-metadata-worker.ts';

const scripted = createScriptedChain({ seed: 5 });
const chain = exampleChain({
  id: scripted.chainId,
  key: 'scripted',
  multicall3: { address: MULTICALL3_ADDRESS, blockCreated: 0 },
});
const byTrait = (trait: string): Address => {
  const token = scripted.tokens.find((each) => each.trait === trait);
  if (token === undefined) throw new Error(`no token with trait ${trait}`);
  return token.address;
};
const byKind = (kind: string): Address => {
  const token = scripted.tokens.find((each) => each.kind === kind);
  if (token === undefined) throw new Error(`no token of kind ${kind}`);
  return token.address;
};
const bytes = (address: string): Buffer => Buffer.from(address.slice(2), 'hex');

let scratch: ScratchDatabase;
let node: ChainNode;
let pool: UpstreamPool;
let work: DueWork | null;
let metrics = createMetricsRegistry();

beforeEach(async () => {
  scratch = await createScratchDatabase();
  node = await serveScriptedChain(scripted);
  pool = await examplePool(chain, node.url);
  work = null;
});
afterEach(async () => {
  await work?.close();
  await pool.close();
  await node.close();
  await scratch.drop();
});

/** As the sync engine leaves them. */
async function addPending(addresses: readonly string[]): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO tokens (address, chain_id) SELECT address, ${chain.id} FROM unnest(${addresses.map(bytes)}::bytea[]) AS address`,
  );
}

async function startWorker(): Promise<void> {
  metrics = createMetricsRegistry();
  const logger = silentLogger();
  const { database } = scratch;
  work = createDueWork({ database, clock: systemClock, logger, metrics, sweepEveryMs: 100 });
  addTokenFacts(work, { database, chains: [{ chain, pool }], logger, metrics });
  work.start();
}

interface TokenRow {
  readonly factsStatus: string;
  readonly factsAttempts: number;
  readonly name: string | null;
  readonly standard: string | null;
  readonly possibleSpam: boolean;
  readonly waits: boolean;
}

async function rowOf(address: string): Promise<TokenRow> {
  const [row] = await scratch.database.query<TokenRow>(
    sql`SELECT facts_status, facts_attempts, name, standard, possible_spam, coalesce(facts_due_at > now(), false) AS waits FROM tokens WHERE address = ${bytes(address)}`,
  );
  if (row === undefined) throw new Error(`no row of ${address}`);
  return row;
}

async function errorOf(address: string): Promise<string | null> {
  const [row] = await scratch.database.query<{ code: string | null }>(
    sql`SELECT facts_error_code AS code FROM tokens WHERE address = ${bytes(address)}`,
  );
  return row?.code ?? null;
}

const soon = { timeout: 15_000, interval: 50 };
const isDue = (): Promise<unknown> =>
  scratch.database.query(sql`UPDATE tokens SET facts_due_at = now() WHERE facts_status <> ${'known'}`);

describe('the worker', () => {
  test('fills in the metadata of tokens that the sync engine left pending, spam and NFTs marked', async () => {
    const nft = byKind('erc721-three-topics');
    await addPending(scripted.tokens.map((token) => token.address));
    await startWorker();
    await vi.waitFor(async () => {
      for (const token of scripted.tokens.filter((each) => each.facts !== null))
        expect(await rowOf(token.address)).toMatchObject({ factsStatus: 'known', name: token.facts?.name });
    }, soon);
    expect(await rowOf(byTrait('advertisement'))).toMatchObject({ possibleSpam: true });
    expect(await rowOf(byTrait('no decimals'))).toMatchObject({ possibleSpam: false, standard: 'erc20' });
    expect(await rowOf(nft)).toMatchObject({ standard: 'erc721' });
    expect(await metrics.metrics()).toMatch(
      /chainstead_token_facts_total\{chain="scripted",outcome="known"\} \d+/,
    );
  });

  test('asks a silent contract a few times before it takes silence for an answer', async () => {
    const silent = byTrait('answers nothing');
    await addPending([silent]);
    await startWorker();
    for (let attempt = 1; attempt < SILENT_ATTEMPTS_MAX; attempt++) {
      await vi.waitFor(
        async () =>
          expect(await rowOf(silent)).toMatchObject({
            factsStatus: 'pending',
            factsAttempts: attempt,
            waits: true,
          }),
        soon,
      );
      await isDue();
    }
    await vi.waitFor(
      async () => expect(await rowOf(silent)).toMatchObject({ factsStatus: 'known', name: null, waits: false }),
      soon,
    );
  });

  test('tries again later what no upstream answered, and then succeeds', async () => {
    const token = byTrait('letters of many scripts');
    await node.close();
    await addPending([token, byTrait('no decimals')]);
    await startWorker();
    await vi.waitFor(
      async () =>
        expect(await rowOf(token)).toMatchObject({ factsStatus: 'pending', factsAttempts: 1, waits: true }),
      { ...soon, timeout: 25_000 },
    );
    await work?.close();
    await pool.close();
    node = await serveScriptedChain(scripted);
    pool = await examplePool(chain, node.url);
    await isDue();
    await startWorker();
    await vi.waitFor(
      async () => expect(await rowOf(token)).toMatchObject({ factsStatus: 'known', name: 'Žluťoučký kůň 🐎' }),
      soon,
    );
  });
});

describe('known facts', () => {
  const token = byTrait('letters of many scripts');
  const request = (address: Address, only?: Sql) =>
    scratch.database.transaction((transaction) => requestTokenFacts(transaction, chain.id, [address], only));
  const store = (address: Address, values: Sql) =>
    scratch.database.query(
      sql`INSERT INTO tokens (address, chain_id, facts_status, facts_due_at, name, decimals) VALUES (${bytes(address)}, ${chain.id}, 'known', NULL, ${values})`,
    );
  const changed = () =>
    scratch.database.query(sql`SELECT ${hexText('address')} AS address FROM changed_decimals`);

  test('are read again on request, and changed decimals become work', async () => {
    await store(token, sql`'', 0`);
    await store(byTrait('no decimals'), sql`'Same', NULL`);
    expect(await request(token)).toEqual([token]);
    expect(await request(byTrait('no decimals'), sql`decimals IS NOT NULL`)).toEqual([]);
    await startWorker();
    await vi.waitFor(
      async () => expect(await rowOf(token)).toMatchObject({ factsStatus: 'known', name: 'Žluťoučký kůň 🐎' }),
      soon,
    );
    expect(await changed()).toEqual([{ address: token }]);
    expect(await rowOf(byTrait('no decimals'))).toMatchObject({ name: 'Same' });
  });

  test('stay while no upstream responds, and if the contract returns nothing', async () => {
    const silent = byTrait('answers nothing');
    await store(silent, sql`'Gone', 9`);
    await request(silent);
    const [claim] = await claimAll(1);
    if (claim === undefined) throw new Error('no token is due');
    await failDue(scratch.database, TOKEN_FACTS, claim, { error: new Error('no upstream'), retrySeconds: 0 });
    expect(await rowOf(silent)).toMatchObject({ factsStatus: 'known', name: 'Gone' });
    await startWorker();
    await vi.waitFor(
      async () => expect(await rowOf(silent)).toMatchObject({ factsStatus: 'known', factsAttempts: 0 }),
      soon,
    );
    expect(await rowOf(silent)).toMatchObject({ name: 'Gone', waits: false });
    expect(await changed()).toEqual([]);
  });

  test('are read by a node that has reached the announcement, and again after its reorg', async () => {
    await store(token, sql`'Before', 9`);
    const announce = (block: number) =>
      scratch.database.transaction((transaction) =>
        noteAnnouncements(transaction, chain.id, new Map([[token, block]])),
      );
    await announce(scripted.head + 1_000);
    await startWorker();
    await vi.waitFor(async () => expect(await errorOf(token)).not.toBeNull(), soon);
    expect(await rowOf(token)).toMatchObject({ factsStatus: 'known', name: 'Before' });
    await scratch.database.transaction((transaction) => rollBackAnnouncements(transaction, chain.id, 0));
    await vi.waitFor(async () => expect(await rowOf(token)).toMatchObject({ name: 'Žluťoučký kůň 🐎' }), soon);
  });

  test('are claimed after all unknown ones', async () => {
    await store(addressOf(1), sql`'Known', 9`);
    await request(addressOf(1));
    await addPending([addressOf(2)]);
    expect(await claimTokens(1)).toEqual([addressOf(2)]);
    expect(await claimTokens(1)).toEqual([addressOf(1)]);
  });
});

const claimAll = (limit: number) =>
  claimDue<{ address: Address }>(scratch.database, TOKEN_FACTS, {
    chainId: chain.id,
    limit,
    leaseMs: 120_000,
    holder: randomUUID(),
    returning: sql`${hexText('work.address')} AS address`,
  });
const claimTokens = async (limit: number): Promise<Address[]> =>
  (await claimAll(limit)).map(({ row }) => row.address);

describe('pending metadata', () => {
  test('a leased token is nobody else’s until its lease ends; a lost job’s tokens are due again then', async () => {
    await addPending([addressOf(1), addressOf(2), addressOf(3)]);
    const first = await claimTokens(2);
    const second = await claimTokens(2);
    expect([...first, ...second].sort()).toEqual([addressOf(1), addressOf(2), addressOf(3)]);
    expect(await claimTokens(2)).toEqual([]);
    await scratch.database.query(
      sql`UPDATE tokens SET facts_lease_until = facts_lease_until - interval '3 minutes' WHERE address = ${bytes(addressOf(2))}`,
    );
    expect(await claimTokens(2)).toEqual([addressOf(2)]);
  });

  test('another chain’s tokens and known ones are never leased', async () => {
    await addPending([addressOf(1)]);
    await scratch.database.query(
      sql`INSERT INTO tokens (address, chain_id, facts_status, facts_due_at) VALUES (${bytes(addressOf(2))}, ${8453}, 'pending', now()), (${bytes(addressOf(3))}, ${chain.id}, 'known', NULL)`,
    );
    expect(await claimTokens(10)).toEqual([addressOf(1)]);
  });

  test('waits grow, and after many failures a token waits a day at a time', async () => {
    await addPending([addressOf(1)]);
    const waits: number[] = [];
    for (let attempt = 1; attempt <= FAILING_ATTEMPTS_MAX; attempt++) {
      const [claim] = await claimAll(1);
      if (claim === undefined) throw new Error('no token is due');
      const retrySeconds = tokenRetrySeconds(claim.attempts);
      await failDue(scratch.database, TOKEN_FACTS, claim, { error: new Error('no upstream'), retrySeconds });
      const [row] = await scratch.database.query<{ seconds: number; factsStatus: string }>(
        sql`SELECT round(extract(epoch FROM facts_due_at - now()))::int AS seconds, facts_status FROM tokens`,
      );
      waits.push(row?.seconds ?? -1);
      expect(row?.factsStatus).toBe(attempt < FAILING_ATTEMPTS_MAX ? 'pending' : 'failed');
      await isDue();
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 86_400]);
    expect(await claimTokens(1)).toEqual([addressOf(1)]);
  });
});
