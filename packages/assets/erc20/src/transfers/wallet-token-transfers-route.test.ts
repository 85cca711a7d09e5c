import { createChainRegistry } from '@chainstead/chains';
import { sql } from '@chainstead/db';
import { exampleApi } from '@chainstead/http/testing';
import { reviseLabels } from '@chainstead/pages/testing';
import { hashOf, storeToken, timestampOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  blocksOf,
  DAI,
  eth,
  FRIEND,
  getTransfers,
  transfer,
  transfersIn,
  USDC,
  WALLET,
} from './testing/example-wallet.ts';
import { seedCoverage, seedTransfers } from './testing/seeded-wallets.ts';
import { walletTokenTransfersRoute } from './wallet-transfers-page.ts';

const scratch = scratchOfFile();
const api = madeForFile(() => exampleApi(scratch.database, [walletTokenTransfersRoute]));
beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE erc20_transfer_sides, blocks, sync_ranges, tokens, address_labels`);
  await reviseLabels(scratch.database);
});

const get = (query: string, wallet?: string): Promise<Answer> => getTransfers(api, query, wallet);
const addToken = (address: string, columns: Parameters<typeof storeToken>[3]): Promise<void> =>
  storeToken(scratch.database, eth.id, address, { facts_status: 'known', ...columns });

async function addLabel(
  address: string,
  source: string,
  label: string,
  entity: string | null,
  chainId: number = eth.id,
): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO address_labels (address, chain_id, source, label, entity, entity_logo) VALUES (${Buffer.from(address.slice(2), 'hex')}, ${chainId}, ${source}, ${label}, ${entity}, ${entity === null ? null : `https://logo.example/${entity}`})`,
  );
  await reviseLabels(scratch.database);
}

describe('a transfer', () => {
  test('is shown with every field, labels of both sides and the token’s metadata', async () => {
    await seedTransfers(scratch.database, eth, [transfer(7, { transactionIndex: 3, logIndex: 9 })]);
    await seedCoverage(scratch.database, eth, 0, 10);
    await addToken(USDC, {
      standard: 'erc20',
      name: 'USD Coin',
      symbol: 'USDC',
      decimals: 6,
      logo: 'https://logo.example/usdc.png',
      verified: true,
    });
    await addLabel(WALLET, 'list', 'Alice', 'Wonderland');
    await addLabel(FRIEND, 'list', 'Bob', null);
    expect(await get('')).toEqual({
      total: 1,
      page: 0,
      page_size: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: '10', complete: true },
      result: [
        {
          token_name: 'USD Coin',
          token_symbol: 'USDC',
          token_logo: 'https://logo.example/usdc.png',
          token_decimals: '6',
          from_address: WALLET,
          from_address_label: 'Alice',
          from_address_entity: 'Wonderland',
          from_address_entity_logo: 'https://logo.example/Wonderland',
          to_address: FRIEND,
          to_address_label: 'Bob',
          to_address_entity: null,
          to_address_entity_logo: null,
          address: USDC,
          block_hash: hashOf(1, 7),
          block_number: '7',
          block_timestamp: new Date(timestampOf(7) * 1000).toISOString(),
          transaction_hash: hashOf(2, 7_003),
          transaction_index: 3,
          log_index: 9,
          value: '1500000',
          value_decimal: '1.5',
          possible_spam: false,
          verified_contract: true,
          verified_collection: true,
        },
      ],
    });
  });

  test('of an unknown token has no metadata, and is neither spam nor verified', async () => {
    await seedTransfers(scratch.database, eth, [transfer(7)]);
    const [row] = (await get('')).result;
    expect(row).toMatchObject({
      token_name: null,
      token_symbol: null,
      token_logo: null,
      token_decimals: null,
      value: '1500000',
      value_decimal: null,
      possible_spam: false,
      verified_contract: false,
      from_address_label: null,
      to_address_label: null,
    });
  });

  test('is shown from the side that the wallet is on, and once when it is both', async () => {
    await seedTransfers(scratch.database, eth, [
      transfer(1),
      transfer(2, { from: FRIEND, to: WALLET }),
      transfer(3, { to: WALLET }),
    ]);
    const sides = (await get('?order=asc')).result.map((row) => [row.from_address, row.to_address]);
    expect(sides).toEqual([
      [WALLET, FRIEND],
      [FRIEND, WALLET],
      [WALLET, WALLET],
    ]);
  });

  test('of a contract that turned out to be an NFT is left out, of a spam token marked', async () => {
    await addToken(USDC, { standard: 'erc721' });
    await addToken(DAI, { standard: 'erc20', possible_spam: true });
    await seedCoverage(scratch.database, eth, 0, 2);
    await seedTransfers(scratch.database, eth, [transfer(1), transfer(2, { token: DAI })]);
    expect((await get('')).result.map((row) => [row.address, row.possible_spam])).toEqual([[DAI, true]]);
    expect((await get(`?contract_addresses=${USDC},${DAI}`)).result.map((row) => row.address)).toEqual([DAI]);
    expect(await get('?disable_total=false')).toMatchObject({ total: 1 });
  });

  test('takes a label made for its chain, one with an entity, the first source, in that order', async () => {
    await addLabel(FRIEND, 'a', 'everywhere', 'Entity', 0);
    await seedTransfers(scratch.database, eth, [transfer(1)]);
    expect((await get('')).result[0]?.to_address_label).toBe('everywhere');
    await addLabel(FRIEND, 'b', 'here', null);
    expect((await get('')).result[0]?.to_address_label).toBe('here');
    await addLabel(FRIEND, 'd', 'here with entity', 'Entity');
    await addLabel(FRIEND, 'c', 'earlier source', 'Entity');
    expect((await get('')).result[0]?.to_address_label).toBe('earlier source');
  });
});

describe('parameters', () => {
  test('chains are found by name, hexadecimal and decimal id; another chain’s rows stay out', async () => {
    const base = createChainRegistry().get('base');
    await seedTransfers(scratch.database, eth, [transfer(1)]);
    await seedTransfers(scratch.database, base, [transfer(2)]);
    for (const chain of ['eth', 'ETH', '0x1', '1']) expect(blocksOf(await get(`?chain=${chain}`))).toEqual([1]);
    for (const chain of ['base', '0x2105', '8453']) expect(blocksOf(await get(`?chain=${chain}`))).toEqual([2]);
  });

  test('a page of blocks of which one contradicts its header is not complete', async () => {
    await seedTransfers(scratch.database, eth, [transfer(7)]);
    await seedCoverage(scratch.database, eth, 0, 10);
    await seedCoverage(scratch.database, eth, 11, 11, 'unproven');
    const completeOf = async (query = ''): Promise<unknown> => Object((await get(query)).indexed).complete;
    expect(await completeOf()).toBe(true);
    await scratch.database.query(
      sql`UPDATE sync_ranges SET proof_reason = 'root-mismatch' WHERE proof = 'unproven'`,
    );
    expect(await completeOf()).toBe(false);
    expect(await completeOf('?to_block=10')).toBe(true);
  });

  test('a chain of which nothing is indexed yet answers an empty page that says so, and no total', async () => {
    expect(await get('?chain=polygon')).toEqual({
      total: null,
      page: 0,
      page_size: 100,
      cursor: null,
      indexed: { from_block: null, to_block: null, complete: false },
      result: [],
    });
  });

  test('bounds include their ends, and a block wins over a date', async () => {
    await seedTransfers(scratch.database, eth, transfersIn(1, 9));
    const date = (block: number, seconds = 0): string =>
      new Date((timestampOf(block) + seconds) * 1000).toISOString();
    expect(blocksOf(await get('?from_block=3&to_block=5'))).toEqual([5, 4, 3]);
    expect(blocksOf(await get(`?from_date=${date(3)}&to_date=${date(5)}`))).toEqual([5, 4, 3]);
    expect(blocksOf(await get(`?from_date=${date(3, 1)}&to_date=${date(5, -1)}`))).toEqual([4]);
    expect(blocksOf(await get(`?from_block=8&from_date=${date(2)}`))).toEqual([9, 8]);
    expect(blocksOf(await get(`?to_block=2&to_date=${date(8)}&order=ASC`))).toEqual([1, 2]);
    expect(blocksOf(await get(`?from_date=${timestampOf(9)}`))).toEqual([9]);
    expect(blocksOf(await get(`?to_date=${date(0)}`))).toEqual([]);
  });

  test('an address counts in any letter case', async () => {
    await seedTransfers(scratch.database, eth, [transfer(1)]);
    expect(blocksOf(await get('', `0x${WALLET.slice(2).toUpperCase()}`))).toEqual([1]);
  });
});
