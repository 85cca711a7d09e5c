import type { ChainId } from '@chainstead/core';
import { type Database, sql, type Transaction } from '@chainstead/db';
import { type CallableItem, readCallableItems } from '@chainstead/events/decoding';
import { type AuditActor, recordAudit } from '@chainstead/http/audit-log';
import { ContractRefusedError } from './contract-definition.ts';

interface ContractKey {
  readonly name: string;
  readonly chainId: ChainId;
}

export async function readFunctions(
  database: Pick<Database, 'query'>,
  { name, chainId }: ContractKey,
): Promise<readonly CallableItem[]> {
  const [row] = await database.query<{ functions: unknown }>(
    sql`SELECT functions FROM contract_definitions WHERE name = ${name} AND chain_id = ${chainId}`,
  );
  return readCallableItems(row?.functions) ?? [];
}

/** Replaces those with the same signature. @throws ContractRefusedError if the ABI has none */
export async function addFunctions(
  database: Database,
  contract: ContractKey,
  { abi, by }: { readonly abi: unknown; readonly by: AuditActor },
): Promise<void> {
  const { name, chainId } = contract;
  const items = readCallableItems(abi) ?? [];
  const functions = items.filter(({ type }) => type === 'function').length;
  if (functions === 0)
    throw new ContractRefusedError(
      'CONTRACT_FUNCTIONS_MISSING',
      `The ABI of ${name} has no view functions`,
      'Give the complete ABI',
    );
  await database.transaction(async (transaction) => {
    await saveFunctions(transaction, contract, items);
    const details = { chain_id: chainId, functions };
    await recordAudit(transaction, by, { action: 'contract.functions', target: name, details });
  });
}

export async function saveFunctions(
  transaction: Transaction,
  contract: ContractKey,
  items: readonly CallableItem[],
): Promise<void> {
  if (items.length === 0) return;
  const { name, chainId } = contract;
  await transaction.query(
    sql`SELECT FROM contract_definitions WHERE name = ${name} AND chain_id = ${chainId} FOR UPDATE`,
  );
  const all = readCallableItems([...items, ...(await readFunctions(transaction, contract))]);
  const functions = JSON.stringify(all);
  await transaction.query(
    sql`UPDATE contract_definitions SET functions = ${functions}::jsonb
      WHERE name = ${name} AND chain_id = ${chainId} AND functions IS DISTINCT FROM ${functions}::jsonb`,
  );
}
