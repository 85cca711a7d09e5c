/** The program's work apart from indexing has the same result on a cluster of Citus as on one server: workers, readings, commands, retention, views for SQL. */
import { silentLogger, systemClock } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import {
  type RangeCommandOptions,
  readChainStatuses,
  reindexRanges,
  verifyRanges,
} from '@chainstead/sync/ingest';
import { createScriptedChain, serveScriptedChain } from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { runCaptured } from 'chainstead/src/testing/captured-context.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { withoutClocks } from './citus-answers.ts';
import { dumpEverything, keepEverything } from './citus-rows.ts';
import { describeOnCitus } from './citus-stage.ts';
import { SCRIPTED_CHAIN_ID, scriptedChainFacts, startIndexer, startPool, waitUntil } from './indexed-chain.ts';
import { untilIndexed } from './indexed-tables.ts';
import { createNftStage, type IndexedNfts, type NftStage } from './nft-stage.ts';

const BESIDE = 'work beside indexing on a cluster';
const NFT_CHAIN_ID = 1_337_061;
const TIMEOUT_MS = 300_000;
/** Chain data alone, without request times. */
const COMPARED: readonly string[] = [
  'blocks',
  'erc20_approvals',
  'erc20_transfer_sides',
  'nft_holdings',
  'nft_owners',
  'nft_sale_days',
  'nft_trades',
  'nft_transfers',
  'wallet_transfers',
];
const never = new AbortController().signal;

await describeOnCitus('beside indexing, a distributed database', BESIDE, ({ createBoth, createSpread }) => {
  describe('of collections, tokens and wallets on a node', () => {
    let stage: NftStage;
    let spread: IndexedNfts;
    let single: IndexedNfts;
    beforeAll(async () => {
      const [onChain, [onCluster, onServer]] = await Promise.all([createNftStage(NFT_CHAIN_ID), createBoth()]);
      stage = onChain;
      spread = await stage.index({}, onCluster);
      single = await stage.index({}, onServer);
    }, TIMEOUT_MS);
    afterAll(() => stage?.close());

    const ask = async ({ api }: IndexedNfts, path: string): Promise<string> => {
      const target = `${api.address}/api/v2.2/${path}${path.includes('?') ? '&' : '?'}chain=devnet`;
      const answer = await fetch(target, { headers: { 'x-api-key': api.key } });
      return `${answer.status} ${withoutClocks(await answer.text())}`;
    };

    it('has workers read what it is asked for, and answers the same', { timeout: TIMEOUT_MS }, async () => {
      await Promise.all([spread, single].map((one) => one.untilServedAsTheNodeSays()));
      const { cats, prints, wrappedEther } = stage.market;
      const [wallet] = stage.wallets;
      for (const path of [
        `${wallet}/erc20?exclude_spam=false`,
        `wallets/${wallet}/tokens`,
        `wallets/${wallet}/approvals`,
        `${wallet}/balance`,
        `wallets/balances?wallet_addresses[0]=${wallet}`,
        `erc20/metadata/symbols?symbols[0]=WETH`,
        `${wallet}/nft?normalizeMetadata=true`,
        `${wallet}/nft/transfers`,
        `erc20/metadata?addresses[0]=${wrappedEther.address}`,
        `erc20/${wrappedEther.address}/owners`,
        `erc20/${wrappedEther.address}/holders`,
        `nft/${cats.address}/metadata`,
        `nft/${cats.address}?normalizeMetadata=true`,
        `nft/${cats.address}/traits`,
        `nft/${cats.address}/traits/paginate`,
        `nft/${prints.address}/owners`,
      ])
        await waitUntil(async () => {
          const [own, expected] = await Promise.all([ask(spread, path), ask(single, path)]);
          return own === expected && own.startsWith('200')
            ? null
            : `${path}: ${differenceOf(own, expected)}\n${spread.program.output()}`;
        });
      // When workers recompute traits, they delete the earlier rows.
      await spread.scratch.database.query(sql`UPDATE nft_collection_traits SET work = 'compute', due_at = now()`);
      await waitUntil(async () => {
        const generations = await spread.scratch.database.query(
          sql`SELECT generation FROM nft_trait_tokens UNION SELECT generation FROM nft_trait_counts UNION SELECT generation FROM nft_trait_generations`,
        );
        const left = await spread.scratch.database.query(
          sql`SELECT FROM nft_collection_traits WHERE work IS NOT NULL`,
        );
        return generations.length === 1 && left.length === 0
          ? null
          : `${generations.length} generations are left`;
      });
      expect(spread.program.output()).not.toMatch(/"level":"(error|fatal)"/);
    });

    it('proves balances that are asked for with proofs', { timeout: TIMEOUT_MS }, async () => {
      const proven = new Set<string>();
      for (const wallet of stage.wallets)
        await waitUntil(async () => {
          const path = `${wallet}/erc20?exclude_spam=false&proof=true`;
          const [own, expected] = await Promise.all([ask(spread, path), ask(single, path)]);
          if (own !== expected) return differenceOf(own, expected);
          if (own.includes('"proof":"storage"')) proven.add(wallet);
          return null;
        });
      expect(proven.size).toBeGreaterThan(0);
    });

    it('reads documents again when contracts say that they changed', { timeout: TIMEOUT_MS }, async () => {
      const { cats } = stage.market;
      const [known] = await single.scratch.database.query<{ id: string }>(
        sql`SELECT token_id::text AS id FROM nft_token_metadata WHERE token_address = ${Buffer.from(cats.address.slice(2), 'hex')} AND status = 'known' LIMIT 1`,
      );
      if (known === undefined) throw new Error('No document of a cat was read');
      await stage.devnet.send({ ...cats, functionName: 'setMood', args: [BigInt(known.id), 'astonished'] });
      await stage.devnet.send({ ...cats, functionName: 'rename', args: ['cats_renamed'] });
      for (const [path, news] of [
        [`nft/${cats.address}/${known.id}`, 'astonished'],
        [`nft/${cats.address}/metadata`, 'cats_renamed'],
      ] as const)
        await waitUntil(async () => {
          const [own, expected] = await Promise.all([ask(spread, path), ask(single, path)]);
          if (!own.includes(news)) return `${own}\n${spread.program.output()}`;
          return own === expected ? null : differenceOf(own, expected);
        });
    });

    it('takes back what a reorganisation takes away', { timeout: TIMEOUT_MS }, async () => {
      for (const kind of ['listing', 'sweep', 'mixedBundle'] as const) await stage.script.sell(kind);
      await spread.untilServedAsTheNodeSays();
      await stage.devnet.reorg(5);
      await stage.script.sell('offer');
      await spread.untilServedAsTheNodeSays();
    });

    it('reads who holds a token where deposits of the wrapped coin lie beside transfers', {
      timeout: TIMEOUT_MS,
    }, async () => {
      const { address, abi } = stage.market.wrappedEther;
      const wrapping = await stage.index({ WRAPPED_NATIVE_DEVNET: address }, await createSpread());
      // Owners first: how many they are is kept for minutes, also where it was counted before rows are there.
      for (const list of ['owners', 'holders'])
        await waitUntil(async () => {
          const answer = await ask(wrapping, `erc20/${address}/${list}`);
          return /^200 .*"(?:totalHolders":[1-9]|owner_address")/.test(answer)
            ? null
            : `${answer}\n${wrapping.program.output()}`;
        });
      // The response is of the newest indexed block, which may not be the last one yet.
      await waitUntil(async () => {
        const { result }: { result: readonly { owner_address: string; balance: string }[] } = JSON.parse(
          (await ask(wrapping, `erc20/${address}/owners`)).slice('200 '.length),
        );
        for (const { owner_address: owner, balance } of result) {
          const held = await stage.devnet.client.readContract({
            address,
            abi,
            functionName: 'balanceOf',
            args: [owner],
          });
          if (balance !== String(held))
            return `${owner} holds ${held}, served: ${balance}\n${wrapping.program.output()}`;
        }
        return null;
      });
    });

    it('gives views for SQL the same rows', { timeout: TIMEOUT_MS }, async () => {
      await single.untilServedAsTheNodeSays();
      const views = await spread.scratch.database.query<{ name: string }>(
        sql`SELECT table_name AS name FROM information_schema.views WHERE table_schema = 'analytics' ORDER BY 1`,
      );
      for (const { name } of views) {
        const [own, expected] = [await viewOf(spread, name), await viewOf(single, name)];
        expect([name, own.length]).toEqual([name, expected.length]);
        if (COMPARED.includes(name)) expect([name, own]).toEqual([name, expected]);
      }
    });
  });

  it('is verified, read again, and tells of itself as one server does', { timeout: TIMEOUT_MS }, async () => {
    const chain = createScriptedChain({ seed: 45, chainId: SCRIPTED_CHAIN_ID });
    chain.mine(160);
    const node = await serveScriptedChain(chain);
    onTestFinished(() => node.close());
    const facts = scriptedChainFacts();
    const reported: unknown[] = [];
    for (const scratch of await createBoth()) {
      const { database } = scratch;
      const indexer = await startIndexer({ chain: facts, database, urls: [node.url] });
      await untilIndexed(database, facts, chain, { proven: true });
      await indexer.stop();
      await keepEverything(database, facts, 4);
      const whole = await dumpEverything(database, facts);
      await damage(database);
      const upstreams = await startPool(facts, [node.url]);
      onTestFinished(() => upstreams.pool.close());
      const options: RangeCommandOptions = {
        ...{ chain: facts, pool: upstreams.pool, metrics: upstreams.metrics, database, datasets },
        ...{ logger: silentLogger(), clock: systemClock },
        proof: 'strict',
        backfillProof: 'none',
      };
      const verified = await verifyRanges(options, [{ from: 20, to: 120 }], never);
      expect(verified.repairs.length).toBeGreaterThan(1);
      const mended = await dumpEverything(database, facts);
      expect(mended.erc20_transfer_sides).toEqual(whole.erc20_transfer_sides);
      expect(mended.nft_transfers).toEqual(whole.nft_transfers);
      await reindexRanges(options, [{ from: 50, to: 90 }], never);
      const again = await dumpEverything(database, facts);
      await database.query(sql`DELETE FROM sync_ranges WHERE first_block < 10`);
      const [status] = await readChainStatuses(database, datasets, [facts]);
      const shown = await runCaptured(['gaps', '--json'], { DATABASE_URL: scratch.url });
      expect((await runCaptured(['status'], { DATABASE_URL: scratch.url })).exitCode).toBe(0);
      const gaps = shown.stdout.replaceAll(/"updated_at":"[^"]*"/g, '');
      reported.push({ whole, verified, mended, again, gaps, coverage: status?.coverage, missing: status?.gaps });
    }
    expect(reported[0]).toEqual(reported[1]);
  });

  it('drops what is not to be kept, and nothing else', { timeout: TIMEOUT_MS }, async () => {
    const chain = createScriptedChain({ seed: 46, chainId: SCRIPTED_CHAIN_ID });
    chain.mine(150);
    const node = await serveScriptedChain(chain);
    onTestFinished(() => node.close());
    const facts = { ...scriptedChainFacts(), reorgDepthMax: 8 };
    const retention = { blocks: 60, since: null };
    const left: unknown[] = [];
    for (const { database } of await createBoth()) {
      for (const [from, to] of [
        [0, 40],
        [40, 80],
        [80, null],
      ])
        await database.query(
          sql`SELECT attach_partition('erc20_transfer_sides', ${facts.id}, ${from ?? null}, ${to ?? null})`,
        );
      const indexer = await startIndexer({ chain: facts, database, urls: [node.url], settings: { retention } });
      onTestFinished(() => indexer.stop());
      await waitUntil(async () => {
        const [oldest] = await database.query<{ block: number | null }>(
          sql`SELECT min(block_number) AS block FROM erc20_transfer_sides`,
        );
        if (oldest?.block == null || oldest.block < 80) return `there are transfers of ${oldest?.block}`;
        const [status] = await readChainStatuses(database, datasets, [facts], () => retention);
        if (status?.checkpoint !== 150) return `${status?.checkpoint} is the last block`;
        return status.gaps.length === 0 ? null : `blocks are missing: ${JSON.stringify(status.gaps)}`;
      });
      await indexer.stop();
      const { erc20_transfer_sides } = await dumpEverything(database, facts);
      const [status] = await readChainStatuses(database, datasets, [facts], () => retention);
      left.push({ erc20_transfer_sides, retainedFrom: status?.retainedFrom });
      expect(erc20_transfer_sides?.length).toBeGreaterThan(100);
    }
    expect(left[0]).toEqual(left[1]);
  });
});

/** From where on two answers differ. */
function differenceOf(own: string, expected: string): string {
  const place = [...own].findIndex((character, index) => character !== expected[index]);
  const from = Math.max(0, place - 80);
  return `${own.slice(from, from + 300)}\ninstead of\n${expected.slice(from, from + 300)}`;
}

/** Columns of each row without its write time. */
async function viewOf({ scratch: { database } }: IndexedNfts, view: string): Promise<readonly string[]> {
  const columns = await database.query<{ name: string }>(
    sql`SELECT attname AS name FROM pg_attribute WHERE attrelid = ${`analytics.${view}`}::regclass AND attnum > 0 ORDER BY attname`,
  );
  const compared = columns.flatMap(({ name }) =>
    /_at$|^updated/.test(name) ? [] : [`${name}::text AS ${name}`],
  );
  const rows = await database.query(sql`SELECT ${rawSql(compared.join(', '))} FROM analytics.${rawSql(view)}`);
  return rows.map((row) => JSON.stringify(row)).toSorted();
}

/** Rows go, change and come by hand. */
async function damage(database: Database): Promise<void> {
  await database.query(sql`DELETE FROM erc20_transfer_sides WHERE block_number = 60`);
  await database.query(sql`UPDATE erc20_transfer_sides SET value = value + 1 WHERE block_number = 70`);
  await database.query(sql`DELETE FROM nft_transfers WHERE block_number BETWEEN 80 AND 85`);
}
