/**
 * What the ERC-20 transfers of every complete recorded block add up to with what was wrapped of the chain's coin, for each wallet and each token:
 * as an independent decoder adds them up, whether they were asked about before those blocks came or after.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { erc20Transfers } from '@chainstead/erc20';
import { createKeptSubjects, type Dataset, subjectStatesOf } from '@chainstead/sync';
import { createScratchDatabase, recordedData, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { indexRecordedBlocks, recordedRanges } from './recorded-blocks.ts';
import { decodeIndependently, decodeWrapping, type RecordedTransfer } from './recorded-transfers.ts';

const { folder, isMissing, title } = recordedData('data/evm');

const SUBJECTS = [
  { state: 'erc20-wallet-tokens', of: ({ from, to }: RecordedTransfer) => [from, to] },
  { state: 'erc20-token-holders', of: ({ token }: RecordedTransfer) => [token] },
] as const;
type StateName = (typeof SUBJECTS)[number]['state'];

/** One in so many wallets and tokens is asked about once all blocks are there, the others before the first that names them. */
const LATE = 25;

describe.skipIf(isMissing)(title('transfers of recorded blocks'), () => {
  const chainIds: Record<string, number> = isMissing
    ? {}
    : JSON.parse(readFileSync(join(folder, 'chain-ids.json'), 'utf8'));
  const chains = createChainRegistry({
    additional: Object.entries(chainIds)
      .filter(([, id]) => createChainRegistry().find(id) === null)
      .map(([key, id]) => ({ key, id })),
  });
  let scratch: ScratchDatabase;

  beforeAll(async () => {
    scratch = await createScratchDatabase();
  });
  afterAll(() => scratch.drop());

  it.each(Object.entries(chainIds))(
    'of %s add up to the same for every wallet and every token',
    async (name, id) => {
      const chain = chains.get(id);
      const { database } = scratch;
      const blocks = recordedRanges(folder, name).flatMap(({ from, to }) =>
        Array.from({ length: to - from + 1 }, (_, index) => from + index),
      );
      const transfers = blocks.flatMap((block) =>
        [decodeIndependently, decodeWrapping].flatMap((decode) => decode(folder, `${name}/${block}`, chain)),
      );
      const index = (some: readonly number[]) =>
        indexRecordedBlocks({
          ...{ database, chain, folder, name },
          ranges: some.map((block) => ({ from: block, to: block })),
        });
      const [first = 0, ...others] = blocks;
      await index([first]);
      const early = transfers.filter(({ block }) => block === String(first));
      const asked = SUBJECTS.map(({ state, of }) => {
        const [before, all] = [new Set(subjectsOf(early, of)), subjectsOf(transfers, of)];
        const late = all.filter((subject, place) => before.has(subject) || place % LATE === 0);
        return { state, late, inTime: [...new Set(all).difference(new Set(late))] };
      });
      for (const { state, inTime } of asked) await keepFromNowOn(chain, state, inTime);
      if (others.length > 0) await index(others);
      for (const { state, late } of asked) await keep(chain, state, late);

      const sums = sumsOf(transfers);
      expect(await keptSums('erc20_wallet_tokens', 'wallet', id)).toEqual(sums);
      expect(await keptSums('erc20_holders', 'account', id)).toEqual(sums);
      expect(await keptCounts(id)).toEqual(countsOf(transfers, sums));
    },
    240_000,
  );

  it('are thousands', async () => {
    const [row] = await scratch.database.query<{ transfers: number }>(
      'SELECT sum(transfers)::int AS transfers FROM erc20_holder_counts',
    );
    expect(row?.transfers).toBeGreaterThan(3_000);
  });

  /** Of subjects that have no rows yet there is nothing to count. */
  async function keepFromNowOn({ id }: Chain, name: StateName, subjects: readonly string[]): Promise<void> {
    await scratch.database.query(
      `INSERT INTO kept_subjects (chain_id, state, subject) SELECT $1, $2, decode(substr(unnest($3::text[]), 3), 'hex')`,
      [id, name, subjects],
    );
  }

  async function keep(chain: Chain, name: StateName, subjects: readonly string[]): Promise<void> {
    const of = subjectStatesOf([erc20Transfers as Dataset]).find(({ state }) => state.name === name);
    if (of === undefined) throw new Error(`The dataset keeps no ${name}`);
    const kept = createKeptSubjects(scratch.database);
    for (const subject of subjects) {
      const progress = await kept.keep(chain, of, parseAddress(subject), 60_000);
      if (progress !== 'built') throw new Error(`${name} of ${subject}: ${progress}`);
    }
  }

  /** As `account token units`. */
  async function keptSums(table: string, account: string, chainId: number): Promise<string[]> {
    const rows = await scratch.database.query<{ line: string }>(
      `SELECT concat_ws(' ', '0x' || encode(${account}, 'hex'), '0x' || encode(token, 'hex'), total) AS line
         FROM ${table} WHERE chain_id = $1 AND total <> 0`,
      [chainId],
    );
    return rows.map(({ line }) => line).toSorted();
  }

  /** As `token transfers holders supply`. */
  async function keptCounts(chainId: number): Promise<string[]> {
    const rows = await scratch.database.query<{ line: string }>(
      `SELECT concat_ws(' ', '0x' || encode(token, 'hex'), transfers, holders, supply) AS line
         FROM erc20_holder_counts WHERE chain_id = $1`,
      [chainId],
    );
    return rows.map(({ line }) => line).toSorted();
  }
});

/** Each once, in a fixed order. The zero address holds nothing. */
function subjectsOf(
  transfers: readonly RecordedTransfer[],
  pick: (transfer: RecordedTransfer) => readonly string[],
): string[] {
  return [...new Set(transfers.flatMap(pick))].filter((subject) => subject !== ZERO_ADDRESS).toSorted();
}

/** Received less sent, as `account token units`, where that is anything. */
function sumsOf(transfers: readonly RecordedTransfer[]): string[] {
  const sums = new Map<string, bigint>();
  for (const { token, from, to, value } of transfers)
    for (const [account, change] of [
      [from, -BigInt(value)],
      [to, BigInt(value)],
    ] as const) {
      const key = `${account} ${token}`;
      if (account !== ZERO_ADDRESS) sums.set(key, (sums.get(key) ?? 0n) + change);
    }
  return [...sums].flatMap(([key, units]) => (units === 0n ? [] : [`${key} ${units}`])).toSorted();
}

/** As `token transfers holders supply`. */
function countsOf(transfers: readonly RecordedTransfer[], sums: readonly string[]): string[] {
  const holders = new Map<string, number>();
  for (const [, token = '', units = ''] of sums.map((line) => line.split(' ')))
    if (BigInt(units) > 0n) holders.set(token, (holders.get(token) ?? 0) + 1);
  return [...Map.groupBy(transfers, ({ token }) => token)]
    .map(([token, all]) => {
      const units = (some: readonly RecordedTransfer[]): bigint =>
        some.reduce((sum, { value }) => sum + BigInt(value), 0n);
      const made = units(all.filter(({ from }) => from === ZERO_ADDRESS));
      const burned = units(all.filter(({ to }) => to === ZERO_ADDRESS));
      return `${token} ${all.length} ${holders.get(token) ?? 0} ${made - burned}`;
    })
    .toSorted();
}
