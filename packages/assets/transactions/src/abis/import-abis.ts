import type { Address, ChainId } from '@chainstead/core';
import {
  addressBytes,
  copyHex,
  copyText,
  type Database,
  sql,
  type Transaction,
  transactionLock,
} from '@chainstead/db';
import { type AbiEntry, AbiUnreadableError, abiItemJson, readAbi, selectorOf } from '@chainstead/events/decoding';
import { byCount } from './import-signatures.ts';

export interface GivenAbi {
  readonly address: Address;
  readonly chainId: ChainId;
  readonly document: unknown;
}

export interface ImportAbisOptions {
  readonly database: Database;
  readonly place: string;
  readonly abis: AsyncIterable<GivenAbi>;
  readonly skipped?: Map<string, number>;
}

export interface AbisReport {
  readonly contracts: number;
  readonly rows: number;
  readonly skipped: readonly { readonly reason: string; readonly count: number }[];
}

const TOGETHER = 10_000;

/** One transaction: the last import wins. @throws AbiUnreadableError if all are empty */
export async function importAbis(options: ImportAbisOptions): Promise<AbisReport> {
  const { database, place, abis, skipped = new Map() } = options;
  const skip = (reason: string, count = 1): void => {
    skipped.set(reason, (skipped.get(reason) ?? 0) + count);
  };
  const counted = await database.transaction(async (transaction) => {
    await transactionLock(transaction, 'abi-import');
    const contracts = new Map<string, number>();
    for await (const batch of batchesOf(abis, skip)) {
      for (const { chainId, address, entries } of batch) contracts.set(`${chainId} ${address}`, entries.length);
      await replaceEntries(transaction, batch);
    }
    if (contracts.size === 0) throw noAbi(place, skipped);
    return { contracts: contracts.size, rows: [...contracts.values()].reduce((sum, count) => sum + count) };
  });
  return { ...counted, skipped: byCount(skipped) };
}

interface ContractEntries {
  readonly address: Address;
  readonly chainId: ChainId;
  readonly entries: readonly AbiEntry[];
}

async function* batchesOf(
  abis: AsyncIterable<GivenAbi>,
  skip: (reason: string, count?: number) => void,
): AsyncGenerator<readonly ContractEntries[]> {
  let batch = new Map<string, ContractEntries>();
  let size = 0;
  for await (const { address, chainId, document } of abis) {
    const abi = readAbi(document);
    for (const [reason, count] of abi?.skipped ?? []) skip(reason, count);
    if (abi === null || abi.entries.length === 0) {
      skip(abi === null ? 'a file without an ABI' : 'an ABI without functions and events');
      continue;
    }
    batch.set(`${chainId} ${address}`, { address, chainId, entries: abi.entries });
    size += abi.entries.length;
    if (size < TOGETHER) continue;
    yield [...batch.values()];
    batch = new Map();
    size = 0;
  }
  if (batch.size > 0) yield [...batch.values()];
}

async function replaceEntries(transaction: Transaction, batch: readonly ContractEntries[]): Promise<void> {
  for (const [chainId, contracts] of Map.groupBy(batch, (each) => each.chainId))
    await transaction.query(
      sql`DELETE FROM contract_abi_entries WHERE address = ANY (${contracts.map(({ address }) => addressBytes(address))}::bytea[]) AND chain_id = ${chainId}`,
    );
  const lines = batch.flatMap(({ address, chainId, entries }) =>
    entries.map((entry, place) =>
      [copyHex(address), chainId, copyHex(selectorOf(entry)), place, copyText(abiItemJson(entry))].join('\t'),
    ),
  );
  await transaction.copy('contract_abi_entries', COLUMNS, lines);
  await transaction.query(
    sql`UPDATE contract_codes AS known SET has_abi = true FROM unnest(${batch.map(({ address }) => addressBytes(address))}::bytea[], ${batch.map(({ chainId }) => chainId)}::bigint[]) AS given (address, chain_id)
      WHERE known.address = given.address AND known.chain_id = given.chain_id AND NOT known.has_abi`,
  );
}

const COLUMNS = ['address', 'chain_id', 'selector', 'place', 'entry'];

function noAbi(place: string, skipped: ReadonlyMap<string, number>): AbiUnreadableError {
  const reasons = byCount(skipped).map(({ reason, count }) => `${count}: ${reason}`);
  return new AbiUnreadableError(
    place,
    ['it has no contract ABI', ...reasons].join('; '),
    'Import an ABI, a Foundry, Hardhat or Truffle artifact, compiler metadata, or a folder of them. If their names lack the chain or the address, set --chain and --address',
  );
}
