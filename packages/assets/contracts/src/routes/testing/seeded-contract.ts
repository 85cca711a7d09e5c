import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress, parseChainId, parseHash } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { coverBlocks, createPartitions, hashOf, timestampOf } from '@chainstead/testkit';
import { addContract } from '../../definitions/add-contract.ts';
import { readDefinitions } from '../../definitions/contract-definition.ts';
import type { EventTable } from '../../tables/event-table.ts';
import { type EventRecord, rowTableOf } from '../../tables/row-table.ts';

export const ETH = createChainRegistry().get('eth');
export const VAULT: Address = parseAddress(`0x${'c0'.repeat(20)}`);

/** An event with a parameter of each kind. */
const DEPOSIT = {
  type: 'event',
  name: 'Deposit',
  inputs: [
    { name: 'owner', type: 'address', indexed: true },
    { name: 'from', type: 'address', indexed: true },
    { name: 'label', type: 'string', indexed: true },
    { name: 'assets', type: 'uint256' },
    { name: 'delta', type: 'int128' },
    { name: 'isFirst', type: 'bool' },
    { name: 'id', type: 'bytes4' },
    { name: 'payload', type: 'bytes' },
    { name: 'note', type: 'string' },
    { name: 'kind', type: 'uint8' },
    { name: 'parts', type: 'uint256[]' },
    {
      name: 'position',
      type: 'tuple',
      components: [
        { name: '__proto__', type: 'uint256' },
        { name: 'holder', type: 'address' },
      ],
    },
  ],
};

const PRICE = { type: 'event', name: 'Price', inputs: [{ name: 'limit', type: 'uint256' }] };

/** Adds the contract `vault` with the events `deposit` and `price` on Ethereum. */
export async function seedContract(database: Database): Promise<EventTable> {
  await addContract(database, {
    name: 'vault',
    chain: ETH,
    addresses: [VAULT],
    abi: [DEPOSIT, PRICE],
    factory: null,
    firstBlock: 5,
    events: null,
    indexed: ['owner', 'from_', 'label', 'assets', 'delta', 'is_first', 'id'],
  });
  // An operator may also index columns of any size, if their values are known to be short.
  for (const column of ['payload', 'note'])
    await database.query(
      sql`CREATE INDEX ON contracts.vault_deposit (${rawSql(column)}, chain_id, block_number, transaction_index, log_index)`,
    );
  const [definition] = await readDefinitions(database, 'vault');
  const table = definition?.tables.find(({ event }) => event === 'deposit');
  if (table === undefined) throw new RangeError('The contract has no table for its event');
  return table;
}

/** Values of a row other than the defaults, by position. */
export interface ExampleEvent {
  readonly block: number;
  readonly log?: number;
  readonly owner?: Address;
  readonly assets?: string;
  readonly delta?: string;
  readonly isFirst?: boolean;
  readonly note?: string;
  readonly payload?: string;
  readonly chainId?: number;
  readonly isUndecoded?: boolean;
}

export const OWNER: Address = parseAddress(`0x${'0a'.repeat(20)}`);
export const SENDER: Address = parseAddress(`0x${'0b'.repeat(20)}`);
export const LABEL = parseHash(`0x${'1a'.repeat(32)}`);

/** Returns a row of the table of deposits. */
export function depositRow({
  block,
  log = 0,
  owner = OWNER,
  assets = '1000',
  ...more
}: ExampleEvent): EventRecord {
  const { delta = '-5', isFirst = false, note = 'hello', payload = '0x', chainId = ETH.id, isUndecoded } = more;
  const position = `{"holder": "${OWNER}", "__proto__": "7"}`;
  const values = [
    owner,
    SENDER,
    LABEL,
    assets,
    delta,
    isFirst,
    '0xabcdef01',
    payload,
    note,
    '3',
    '["1","2"]',
    position,
  ];
  return {
    chainId,
    blockNumber: block,
    transactionIndex: 2,
    logIndex: log,
    blockTime: new Date(timestampOf(block) * 1_000).toISOString(),
    transactionHash: parseHash(hashOf(2, block)),
    contract: VAULT,
    values: isUndecoded === true ? null : values,
    undecoded: isUndecoded === true ? '0x01' : null,
  };
}

/** Writes rows as the sync engine does, with their blocks and the covered blocks from 5 to the highest one. */
export async function seedRows(
  database: Database,
  table: EventTable,
  rows: readonly EventRecord[],
): Promise<void> {
  const { columns, copyLine, name } = rowTableOf(table);
  const numbers = rows.map(({ blockNumber }) => blockNumber);
  const blocks = [...new Set(numbers)].map((number) =>
    [
      ETH.id,
      number,
      `\\\\x${hashOf(1, number).slice(2)}`,
      new Date(timestampOf(number) * 1_000).toISOString(),
    ].join('\t'),
  );
  await database.transaction(async (transaction) => {
    for (const chainId of new Set(rows.map((row) => row.chainId)))
      await createPartitions(transaction, name, parseChainId(chainId));
    await transaction.copy(name, columns, rows.map(copyLine));
    await transaction.copy('blocks', ['chain_id', 'block_number', 'block_hash', 'block_timestamp'], blocks);
    await coverBlocks(transaction, ETH.id, name, 5, Math.max(...numbers));
  });
}
