import { type Address, parseChainId } from '@chainstead/core';
import { addressBytes, hexText, sql } from '@chainstead/db';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf, type Moralis, startOfficialSdk, storeToken } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { applyReviews, type ReviewSelection, readReviews } from './apply-reviews.ts';
import { type ContractReview, reviewContractsRoute, saveReviews } from './review-contracts-route.ts';

const [SCAM, COIN, OTHER] = [addressOf(0x5ca3), addressOf(0xc01), addressOf(0x07e)];
const ETHEREUM = parseChainId(1);
const ALL: ReviewSelection = { chainId: null, addresses: null };

const scratch = scratchOfFile();
let server: ApiServer;
let sdk: Moralis;

beforeAll(async () => {
  const api = await exampleApi(scratch.database, [reviewContractsRoute]);
  server = await serveApi(api, { host: '127.0.0.1', port: 0 });
  ({ Moralis: sdk } = await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url }));
});
afterAll(() => server.close());
beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE contract_reviews, spam_list_entries, tokens, list_revisions`);
  for (const address of [SCAM, COIN])
    await storeToken(scratch.database, 1, address, { name: 'Coin', facts_status: 'known' });
});

const report = (
  address: Address,
  reportType: ContractReview['reportType'],
  reason = 'a reason',
): ContractReview => ({
  address,
  reportType,
  contractType: 'ERC20',
  reason,
});

const by = (keyId: string, ...reviews: readonly ContractReview[]) =>
  saveReviews(scratch.database, { keyId, chainId: ETHEREUM }, reviews);

const apply = (selection: ReviewSelection = ALL) =>
  scratch.database.transaction((transaction) => applyReviews(transaction, selection));

async function markedTokens(): Promise<unknown> {
  return (
    await scratch.database.query<{ address: string }>(
      sql`SELECT ${hexText('address')} AS address FROM tokens WHERE possible_spam ORDER BY address`,
    )
  ).map(({ address }) => address);
}

async function post(body: unknown, query = ''): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${server.url}/api/v2.2/contracts-review${query}`, {
    method: 'POST',
    headers: { 'x-api-key': EXAMPLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

describe('a report', () => {
  test('of the official SDK is kept, and changes nothing by itself', async () => {
    const reported = {
      contractAddress: SCAM,
      reason: ' empties\twallets ',
      reportType: 'spam',
      contractType: 'ERC20',
    };
    const answer = await sdk.EvmApi.utils.reviewContracts({ chain: '0x1' }, { contracts: [reported] } as never);
    expect(answer.raw).toEqual({ message: 'Submission successful' });
    expect(await readReviews(scratch.database, ALL)).toEqual([
      {
        chainId: 1,
        address: SCAM,
        contractTypes: ['ERC20'],
        spam: 1,
        notSpam: 0,
        reason: 'empties wallets',
        reportedAt: expect.any(Date),
        isWaiting: true,
        isListed: false,
      },
    ]);
    expect(await markedTokens()).toEqual([]);
  });

  test('takes the place of the same key’s former one, and waits anew', async () => {
    await by('a', report(SCAM, 'spam'));
    await apply();
    expect(await readReviews(scratch.database, ALL)).toMatchObject([{ isWaiting: false, isListed: true }]);
    await by('a', report(SCAM, 'spam', 'first'), report(SCAM, 'not_spam', 'second'));
    expect(await readReviews(scratch.database, ALL)).toMatchObject([
      { spam: 0, notSpam: 1, reason: 'second', isWaiting: true, isListed: true },
    ]);
  });

  test('is refused of a key that has reported very many', async () => {
    await scratch.database.query(
      sql`INSERT INTO contract_reviews (key_id, chain_id, address, contract_type, report_type, reason)
       SELECT 'config:1', 1, decode(lpad(to_hex(place), 40, '0'), 'hex'), 'NFT', 'spam', 'r' FROM generate_series(1, 10000) AS place`,
    );
    const contract = { contract_address: SCAM, reason: 'r', report_type: 'spam', contract_type: 'NFT' };
    expect(await post({ contracts: [contract] })).toEqual({
      status: 400,
      body: { message: 'This key has reported 10000 contracts, which is the limit' },
    });
    await by('another', report(SCAM, 'spam'));
    // A new report of a contract replaces the one that is counted.
    const reported = { ...contract, contract_address: `0x${'0'.repeat(39)}1` };
    expect(await post({ contracts: [reported] })).toMatchObject({ status: 200 });
  });
});

describe('applying', () => {
  test('marks what more keys call spam than not, and takes it back', async () => {
    await by('a', report(SCAM, 'spam', 'older'), report(COIN, 'spam'), report(OTHER, 'spam'));
    await by('b', report(SCAM, 'spam', 'newer'), report(COIN, 'not_spam'));
    await by('c', report(SCAM, 'not_spam', 'newest'));
    expect(await apply()).toEqual({ spam: 2, notSpam: 1 });
    expect(await markedTokens()).toEqual([SCAM]);
    const [first] = await scratch.database.query(
      sql`SELECT source, reason, chain_id FROM spam_list_entries WHERE address = ${addressBytes(SCAM)}`,
    );
    expect(first).toEqual({ source: 'reviews', reason: 'newest', chainId: 1 });
    expect(await scratch.database.query(sql`SELECT revision FROM list_revisions`)).toEqual([{ revision: 1 }]);
    await by('b', report(SCAM, 'not_spam'));
    expect(await markedTokens()).toEqual([SCAM]);
    expect(await apply()).toEqual({ spam: 1, notSpam: 2 });
    expect(await markedTokens()).toEqual([]);
    expect((await readReviews(scratch.database, ALL)).filter(({ isWaiting }) => isWaiting)).toEqual([]);
  });

  test('leaves what other lists say', async () => {
    await scratch.database.query(
      sql`INSERT INTO spam_list_entries (address, chain_id, source) VALUES (${addressBytes(COIN)}, 0, 'a list')`,
    );
    await by('a', report(COIN, 'not_spam'));
    expect(await apply()).toEqual({ spam: 0, notSpam: 1 });
    expect(await markedTokens()).toEqual([COIN]);
  });

  test('takes the contracts that were asked for, the others wait', async () => {
    await by('a', report(SCAM, 'spam'), report(COIN, 'spam'));
    expect(await apply({ chainId: 1, addresses: [COIN] })).toEqual({ spam: 1, notSpam: 0 });
    expect(await markedTokens()).toEqual([COIN]);
    expect(await apply({ chainId: 8_453, addresses: null })).toEqual({ spam: 0, notSpam: 0 });
    expect(
      (await readReviews(scratch.database, ALL)).map(({ address, isWaiting }) => [address, isWaiting]),
    ).toEqual([
      [SCAM, true],
      [COIN, false],
    ]);
  });
});
