import type { Chain } from '@chainstead/chains';
import { addContract } from '@chainstead/contracts';
import { type Address, MAX_UINT256, parseAddress } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { addressOf, coverBlocks, createPartitions, hashOf, timestampOf } from '@chainstead/testkit';

export const VAULT: Address = parseAddress(`0x${'c0'.repeat(20)}`);
export const [OWNER, OTHER] = [addressOf(0x0a), addressOf(0x0b)];
/** Deposits of the first owner, one per block from 1,000 on. */
export const DEPOSITS = 120;
/** Block of the deposit of the other owner, with the largest integer. */
export const LARGEST = 1_000 + DEPOSITS;

const POSITION = {
  name: 'position',
  type: 'tuple',
  components: [
    { name: 'lower', type: 'int24' },
    { name: 'holder', type: 'address' },
  ],
};

/** Events with a parameter of each kind, and functions of each kind. */
export const VAULT_ABI: readonly object[] = [
  {
    type: 'event',
    name: 'Deposit',
    inputs: [
      { name: 'owner', type: 'address', indexed: true },
      { name: 'assets', type: 'uint256' },
      { name: 'isFirst', type: 'bool' },
      { name: 'id', type: 'bytes32' },
      { name: 'note', type: 'string' },
      POSITION,
    ],
  },
  { type: 'event', name: 'Paused', inputs: [] },
  view('totalAssets', [], [{ name: '', type: 'uint256' }]),
  view('ownerOf', [{ name: 'id', type: 'uint256' }], [{ name: '', type: 'address' }]),
  view('note', [], [{ name: '', type: 'string' }]),
  view(
    'positions',
    [
      { ...POSITION, name: 'key' },
      { name: '', type: 'bool' },
    ],
    [
      { ...POSITION, name: 'found', type: 'tuple[]' },
      { name: '', type: 'bytes4' },
    ],
  ),
  view('refuse', [], []),
  { type: 'error', name: 'Refused', inputs: [{ name: 'why', type: 'string' }] },
  { ...view('deposit', [], []), stateMutability: 'payable' },
];

function view(name: string, inputs: readonly object[], outputs: readonly object[]) {
  return { type: 'function', name, stateMutability: 'view', inputs, outputs };
}

/** The contract `vault` with rows of its event `deposit`. @param notes texts of the newest rows */
export async function seedContract(
  database: Database,
  chain: Chain,
  notes: readonly string[] = [],
): Promise<void> {
  await addContract(database, {
    name: 'vault',
    ...{ chain, abi: VAULT_ABI, addresses: [VAULT], factory: null, events: null },
    firstBlock: 1_000,
    indexed: ['owner', 'assets', 'is_first'],
  });
  await createPartitions(database, 'contracts.vault_deposit', chain.id);
  const last = LARGEST + notes.length;
  for (let block = 1_000; block <= last; block++)
    await seedDeposit(database, chain, block, notes[block - LARGEST - 1]);
  await coverBlocks(database, chain.id, 'contracts.vault_deposit', 1000, last);
}

export async function seedDeposit(database: Database, chain: Chain, block: number, note = ''): Promise<void> {
  const owner = block < LARGEST ? OWNER : OTHER;
  const assets = block < LARGEST ? String(block) : MAX_UINT256.toString();
  const position = JSON.stringify({ lower: '-887272', holder: owner });
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${chain.id}, ${block}, ${hexBytes(hashOf(1, block))}, to_timestamp(${timestampOf(block)}))`,
  );
  await database.query(
    sql`INSERT INTO contracts.vault_deposit (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract, owner, assets, is_first, id, note, position)
       VALUES (${chain.id}, ${block}, 0, 3, to_timestamp(${timestampOf(block)}), ${hexBytes(hashOf(2, block))}, ${hexBytes(VAULT)}, ${hexBytes(owner)}, ${assets}::numeric, ${block === 1_000}, ${hexBytes(hashOf(9, block))}, ${note}, ${position}::jsonb)`,
  );
}
