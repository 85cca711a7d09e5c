import { rawSql, sql } from '@chainstead/db';
import { ensurePartitions } from '@chainstead/sync/ingest';
import { coverBlocks, createPartitions } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it } from 'vitest';
import { readContractDatasets } from '../dataset/contract-datasets.ts';
import { readContractsState } from '../factories/child-rows.ts';
import { rowTableOf } from '../tables/row-table.ts';
import { addContract } from './add-contract.ts';
import { readDefinitions, readRevision } from './contract-definition.ts';
import { readContractStatuses } from './contract-status.ts';
import { removeContract } from './remove-contract.ts';
import {
  base,
  DEPOSIT,
  eth,
  event,
  input,
  MADE,
  ONE,
  OTHER,
  registry,
  SENT_TO_MANY,
  wanted,
} from './testing/wanted-deposits.ts';
import type { WantedContract } from './wanted-contract.ts';

const scratch = scratchOfFile();
const WITH_TRANSACTIONS = { ...eth, transactions: { ...eth.transactions, mode: 'all' } } as const;
const SENT = event('Sent', input('from', 'address', true), input('value', 'uint8'));
const add = (name: string, changes: Partial<WantedContract> = {}) =>
  addContract(scratch.database, wanted(name, changes));
const columnsOf = async (table: string) => {
  const rows = await scratch.database.query<{ shown: string }>(
    sql`SELECT attname || ' ' || format_type(atttypid, atttypmod) AS shown FROM pg_attribute WHERE attrelid = ${table}::regclass AND attnum > 0 ORDER BY attnum`,
  );
  return rows.map(({ shown }) => shown);
};

describe('a contract', () => {
  it('stores events and calls with as many parameters as an ABI may have', async () => {
    const inputs = Array.from({ length: 256 }, (_, index) => input(`p${index}`, 'uint256'));
    const { tables } = await add('wide', {
      ...{ chain: WITH_TRANSACTIONS, calls: true },
      abi: [event('Wide', ...inputs), { type: 'function', name: 'pay', inputs, stateMutability: 'payable' }],
    });
    const place = {
      chainId: 1,
      blockNumber: 1,
      transactionIndex: 0,
      logIndex: 0,
      blockTime: '2024-01-01T00:00:00Z',
    };
    const row = { ...place, transactionHash: `0x${'1f'.repeat(32)}`, contract: ONE, undecoded: null };
    const numbers = Array.from({ length: 256 }, () => String(2n ** 256n - 1n));
    for (const table of tables) {
      const { name, columns, copyLine } = rowTableOf(table);
      const values = table.kind === 'call' ? [ONE, '7', true, ...numbers] : numbers;
      await createPartitions(scratch.database, name, eth.id);
      await scratch.database.transaction((transaction) =>
        transaction.copy(name, columns, [copyLine({ ...row, values })]),
      );
      expect(await scratch.database.query(sql`SELECT p0::text, p255::text FROM ${rawSql(name)}`)).toEqual([
        { p0: numbers[0], p255: numbers[0] },
      ]);
    }
    expect(tables.map(({ kind }) => kind)).toEqual(['event', 'call']);
    await removeContract(scratch.database, 'wide', eth.id);
  });

  it('gets a typed table and a view for each event', async () => {
    const { tables } = await add('vault', { abi: { abi: [DEPOSIT, SENT, SENT_TO_MANY] } });
    expect(tables.map(({ name, event: path, view }) => [name, path, view])).toEqual([
      ['contracts.vault_deposit', 'deposit', 'analytics.contract_vault_deposit'],
      ['contracts.vault_sent', 'sent', 'analytics.contract_vault_sent'],
      ['contracts.vault_sent_2', 'sent_2', 'analytics.contract_vault_sent_2'],
    ]);
    const place = ['chain_id bigint', 'block_number bigint', 'transaction_index integer', 'log_index integer'];
    const found = ['block_time timestamp with time zone', 'transaction_hash bytea', 'contract bytea'];
    expect(await columnsOf('contracts.vault_deposit')).toEqual([
      ...[...place, ...found, 'sender bytea', 'owner bytea', 'assets numeric', 'undecoded bytea'],
    ]);
    expect(await columnsOf('contracts.vault_sent_2')).toEqual([
      ...[...place, ...found, 'from_ bytea', 'to_ jsonb', 'undecoded bytea'],
    ]);
    expect((await columnsOf('analytics.contract_vault_deposit')).slice(-5)).toEqual([
      ...['sender text', 'owner text', 'assets numeric', 'sender_bytes bytea', 'owner_bytes bytea'],
    ]);
  });

  it('is refused if a table would be that of another contract, which stays', async () => {
    await add('pool', { abi: [event('V3Swap', input('amount', 'uint256'))] });
    const other = { abi: [event('Swap', input('amount', 'uint256')), SENT] };
    for (const chain of [eth, base])
      await expect(add('pool_v3', { ...other, chain })).rejects.toMatchObject({
        code: 'CONTRACT_TABLE_TAKEN',
        message: expect.stringContaining(
          'contracts.pool_v3_swap of pool_v3 would be that of V3Swap(uint256) of pool',
        ),
      });
    expect(await readDefinitions(scratch.database, 'pool_v3')).toEqual([]);
    await removeContract(scratch.database, 'pool', eth.id);
    await add('pool_v3', other);
    await expect(add('pool', { abi: [event('V3Swap', input('to', 'address'))] })).rejects.toThrow('pool_v3');
    await removeContract(scratch.database, 'pool_v3', eth.id);
  });

  it('is refused with two layouts of one event whose number of topics is the same', async () => {
    const layouts = [true, false].map((first) =>
      event('Moved', input('a', 'uint8', first), input('b', 'uint8', !first)),
    );
    await expect(add('layouts', { abi: layouts })).rejects.toMatchObject({ code: 'CONTRACT_EVENT_CHANGED' });
    const upgrade = { block: 7, log: 1 };
    await expect(add('layouts', { abi: layouts, upgrade })).rejects.toMatchObject({
      code: 'CONTRACT_EVENT_CHANGED',
    });
    expect(await readDefinitions(scratch.database, 'layouts')).toEqual([]);
  });

  it('has no column with the name of a system column', async () => {
    const system = ['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid'];
    const { tables } = await add('land', {
      abi: [event('Bounds', ...system.map((name) => input(name, 'bytes32')))],
    });
    expect(tables[0]?.parameters.map(({ name }) => name)).toEqual(system.map((name) => `${name}_`));
  });

  it('has other names of indexes than of tables', async () => {
    const abi = ['Paid', 'PaidOwner', 'PaidPkey', 'PaidUndecoded'].map((name) =>
      event(name, input('owner', 'address')),
    );
    for (const given of [abi, abi.toReversed()]) {
      await add('names', { abi: given, indexed: ['owner'] });
      expect(await columnsOf('contracts.names_paid_owner')).toContain('owner bytea');
      await removeContract(scratch.database, 'names', eth.id);
    }
  });

  it('whose table is dropped is not indexed until it is added again, and is then read again', async () => {
    const both = { abi: [SENT, DEPOSIT] };
    await add('dropped', both);
    const isIndexed = async () =>
      (await readContractDatasets(scratch.database)).filter(({ name }) => name.startsWith('contracts.dropped_'))
        .length;
    await scratch.database.query(
      sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof)
       SELECT ${eth.id}, dataset, 1, 9, 'none' FROM unnest(ARRAY['contracts.dropped_sent', 'contracts.dropped_deposit']) AS dataset`,
    );
    const state = await readContractsState(scratch.database);
    expect(await isIndexed()).toBe(2);
    await scratch.database.query(sql`DROP TABLE contracts.dropped_sent CASCADE`);
    expect(await isIndexed()).toBe(0);
    expect(await readContractsState(scratch.database)).not.toBe(state);
    const statuses = await readContractStatuses(scratch.database);
    expect(statuses.flatMap(({ table, isMissing }) => (isMissing ? [table] : []))).toEqual([
      'contracts.dropped_sent',
    ]);
    await add('dropped', both);
    expect(await isIndexed()).toBe(2);
    const covered = await scratch.database.query(
      sql`SELECT dataset FROM sync_ranges WHERE dataset LIKE 'contracts.dropped%'`,
    );
    expect(covered).toEqual([{ dataset: 'contracts.dropped_deposit' }]);
    await scratch.database.query(sql`DROP TABLE contracts.dropped_sent CASCADE`);
    await removeContract(scratch.database, 'dropped', eth.id);
  });

  it('leaves no partition that an interrupted retention detached', async () => {
    const abi = [SENT];
    const { tables } = await add('cut', { abi });
    const table = { name: tables[0]?.name ?? '', rowsPerPartition: 1_000 };
    const attach = () =>
      ensurePartitions(scratch.database, eth.id, [{ from: 5, to: 5 }], [{ table, density: null }]);
    const [partition] = await attach();
    await scratch.database.query(
      sql`ALTER TABLE ${rawSql(table.name)} DETACH PARTITION ${rawSql(partition ?? '')}`,
    );
    await removeContract(scratch.database, 'cut', eth.id);
    await add('cut', { abi });
    expect(await attach()).toEqual([partition]);
    await removeContract(scratch.database, 'cut', eth.id);
  });

  it('is a dataset of its chain for each table, for its addresses alone', async () => {
    await add('shop', { abi: [SENT], firstBlock: 5 });
    await add('shop', { abi: [SENT], chain: base, addresses: [OTHER] });
    const dataset = (await readContractDatasets(scratch.database)).find(
      ({ name }) => name === 'contracts.shop_sent',
    );
    expect([eth, base, registry.get('polygon')].map((chain) => dataset?.emitters?.(chain))).toEqual([
      [ONE],
      [OTHER],
      [],
    ]);
    expect([eth, base].map((chain) => dataset?.firstBlock?.(chain))).toEqual([5, null]);
    expect(dataset?.topics(eth)).toHaveLength(1);
    expect(dataset?.topics(registry.get('polygon'))).toEqual([]);
  });

  it('takes further addresses and events, keeps its tables, and is read again', async () => {
    await add('growing', { abi: [SENT], firstBlock: 100 });
    const before = await readRevision(scratch.database);
    await coverBlocks(scratch.database, eth.id, 'contracts.growing_sent', 100, 200, 'none');
    const { tables } = await add('growing', {
      abi: [SENT_TO_MANY, SENT],
      addresses: [OTHER, ONE],
      firstBlock: 50,
    });
    expect(tables.map(({ event: path, abi }) => [path, abi.signature])).toEqual([
      ['sent', 'Sent(address,uint8)'],
      ['sent_2', 'Sent(address,address[])'],
    ]);
    const [definition] = await readDefinitions(scratch.database, 'growing');
    expect(definition).toMatchObject({ addresses: [ONE, OTHER], firstBlock: 50, chainId: eth.id });
    expect(await readRevision(scratch.database)).not.toBe(before);
    const statuses = await readContractStatuses(scratch.database);
    expect(statuses.filter(({ table }) => table.startsWith('contracts.growing'))).toMatchObject([
      { table: 'contracts.growing_sent', rows: 0, isExact: true, undecoded: 0, blocks: [] },
      { table: 'contracts.growing_sent_2', rows: 0, isExact: true, undecoded: 0, blocks: [] },
    ]);
  });

  it('gets tables of calls, whose names are distinct from those of events', async () => {
    const send = {
      ...{ type: 'function', name: 'send', stateMutability: 'payable' },
      inputs: [input('sender', 'address'), input('from', 'address'), input('', 'bytes')],
    };
    const called = { chain: WITH_TRANSACTIONS, calls: true };
    const abi = [
      send,
      event('SendCall'),
      { ...send, name: 'balance', stateMutability: 'view' },
      { ...send, inputs: [] },
    ];
    const { tables } = await add('called', { ...called, abi });
    expect(tables.map(({ name, kind, abi: { signature } }) => [name, kind, signature])).toEqual([
      ['contracts.called_send_call', 'event', 'SendCall()'],
      ['contracts.called_send_call_2', 'call', 'send(address,address,bytes)'],
      ['contracts.called_send_call_3', 'call', 'send()'],
    ]);
    expect((await columnsOf('contracts.called_send_call_2')).slice(7)).toEqual([
      ...['sender bytea', 'native_value numeric', 'success boolean'],
      ...['sender_2 bytea', 'from_ bytea', 'arg2 bytea', 'undecoded bytea'],
    ]);
    expect(await columnsOf('analytics.contract_called_send_call_3')).toEqual([
      ...[
        'chain_id bigint',
        'block_number bigint',
        'transaction_index integer',
        'block_time timestamp with time zone',
      ],
      ...['transaction_hash text', 'contract text', 'sender text', 'native_value numeric', 'success boolean'],
      'sender_bytes bytea',
    ]);
    const stored = await readDefinitions(scratch.database, 'called');
    expect(stored[0]?.tables).toEqual(tables);
    // Known calls stay without the option.
    const before = await readRevision(scratch.database);
    expect((await add('called', { abi: [event('SendCall')] })).tables).toEqual(tables);
    expect(await readRevision(scratch.database)).toBe(before);
    const datasets = (await readContractDatasets(scratch.database)).filter(({ name }) => name.includes('called'));
    expect(datasets.map(({ wholeBlocks }) => wholeBlocks?.reads(WITH_TRANSACTIONS) ?? null)).toEqual([
      ...[null, ['transactions'], ['transactions']],
    ]);
  });

  it('is removed with its tables, unless another chain uses them', async () => {
    await add('gone', { abi: [SENT] });
    await add('gone', { abi: [SENT, DEPOSIT], chain: base });
    expect(await removeContract(scratch.database, 'gone', eth.id)).toEqual({ dropped: [], held: [] });
    expect(await removeContract(scratch.database, 'gone', base.id)).toEqual({
      dropped: ['contracts.gone_sent', 'contracts.gone_deposit'],
      held: [],
    });
    expect(await readDefinitions(scratch.database, 'gone')).toEqual([]);
    const left = await scratch.database.query(sql`SELECT FROM pg_class WHERE relname LIKE '%gone%'`);
    expect(left).toEqual([]);
  });
});

describe('a contract with a factory', () => {
  it('has a table for the event of the factory, also if children emit the same event', async () => {
    const { tables } = await add('pairs', {
      factory: MADE,
      abi: [SENT, event('Made', input('pair', 'address'), input('kind', 'uint8'))],
    });
    expect(tables.map(({ name }) => name)).toEqual([
      ...['contracts.pairs_made', 'contracts.pairs_sent', 'contracts.pairs_made_2'],
    ]);
    const [definition] = await readDefinitions(scratch.database, 'pairs');
    expect(definition?.factory).toEqual({
      event: 'made',
      child: 'pair',
      of: null,
      firstBlock: 0,
      childFrom: 'transaction',
    });
    const again = await add('pairs', { factory: MADE, addresses: [OTHER], abi: [DEPOSIT] });
    expect(again.tables.map(({ name }) => name)).toEqual([
      ...['contracts.pairs_made', 'contracts.pairs_sent', 'contracts.pairs_made_2', 'contracts.pairs_deposit'],
    ]);
  });

  it('is known by one event and one child', async () => {
    await add('markets', { factory: MADE });
    await add('plain');
    const refused = (name: string, what: string) => ({
      message: `${name} is known with ${what}. Use another name, or run "chainstead contracts remove ${name} --chain 1" first`,
    });
    const other = { ...MADE, event: 'Made(address pair, address other)', child: 'other' };
    await expect(add('markets', { factory: other })).rejects.toMatchObject(
      refused('markets', 'another factory, event or child'),
    );
    await expect(add('markets')).rejects.toMatchObject(refused('markets', 'another factory, event or child'));
    await expect(add('plain', { factory: MADE })).rejects.toMatchObject(refused('plain', 'no factory'));
    await expect(add('of_plain', { addresses: [], factory: { ...MADE, of: 'plain' } })).rejects.toMatchObject({
      message:
        'There is no contract plain with children on eth. Give addresses with --factory, or the name of a contract that was added with --factory',
    });
  });

  it('is not removed while its children are factories', async () => {
    await add('hubs', { factory: MADE });
    await add('pools', { addresses: [], factory: { ...MADE, of: 'hubs' } });
    await expect(removeContract(scratch.database, 'hubs', eth.id)).rejects.toMatchObject({
      message: 'Children of hubs are the factories of pools. Remove pools first',
    });
    await removeContract(scratch.database, 'pools', eth.id);
    await removeContract(scratch.database, 'hubs', eth.id);
  });

  it('is read again with more factories, and so are the contracts below it', async () => {
    await add('tops', { factory: MADE });
    await add('leaves', { addresses: [], factory: { ...MADE, of: 'tops' } });
    const tables = ['tops_made', 'tops_deposit', 'leaves_made', 'leaves_deposit'].map(
      (name) => `contracts.${name}`,
    );
    for (const table of tables) await coverBlocks(scratch.database, eth.id, table, 0, 200, 'none');
    const offered = async () =>
      (await readContractDatasets(scratch.database))
        .map(({ name }) => name)
        .filter((name) => tables.includes(name));
    expect(await offered()).toEqual(
      ['tops_made', 'leaves_made', 'tops_deposit', 'leaves_deposit'].map((name) => `contracts.${name}`),
    );
    await add('tops', { factory: MADE, addresses: [OTHER] });
    expect(await scratch.database.query(sql`SELECT FROM sync_ranges WHERE dataset = ANY (${tables})`)).toEqual(
      [],
    );
    expect(await offered()).toEqual(['contracts.tops_made']);
  });
});
